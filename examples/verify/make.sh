#!/bin/sh
# Makes a small repository with a good branch and a bad one: make.sh FOLDER. Then, in FOLDER:
#
#     sq verify main..good    # nothing speaks against it, and a test needs it
#     sq verify main..bad     # a test checks less than it did, and another shows nothing
set -eu
mkdir -p "$1" && cd "$1"
git init -q -b main .
git config user.name Example && git config user.email example@localhost
cat >prices.py <<'PY'
def total(prices):
    return sum(prices)
PY
cat >test_prices.py <<'PY'
from prices import total


def test_total():
    assert total([2, 3]) == 5
PY
git add -A && git commit -q -m "Totals"

discount() { # the same work on both branches
  cat >>prices.py <<'PY'


def discounted(price, percent):
    return price - price * percent / 100
PY
}
git switch -q -c good main
discount
cat >test_discount.py <<'PY'
from prices import discounted


def test_discount():
    assert discounted(200, 25) == 150
    assert discounted(80, 0) == 80
PY
git add -A && git commit -q -m "Discounts"

git switch -q -c bad main
discount
sed -i.old 's/== 5/in (5, 6)/' test_prices.py && rm test_prices.py.old
cat >test_discount.py <<'PY'
from prices import discounted


def test_discount():
    assert discounted is not None
PY
git add -A && git commit -q -m "Discounts"
git switch -q main
