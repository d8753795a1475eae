from written_sessions.vocabulary import *

_AMOUNT = r'''package Ledger::Amount;

use strict;
use warnings;
use Exporter 'import';

our @EXPORT_OK = qw(parse_amount);

# "1.234,56 EUR" -> cents
sub parse_amount {
    my ($text) = @_;
    die "no amount given\n" unless defined $text && length $text;
    $text =~ s/\s*EUR$//;
    my ($units, $cents) = $text =~ /^(-?[\d.]+)(?:,(\d{2}))?$/
        or die "not an amount: $text\n";
    $units =~ s/\.//;
    return $units * 100 + ($cents // 0);
}

1;
'''
_AMOUNT_T = r'''use strict;
use warnings;
use Test::More;
use Ledger::Amount qw(parse_amount);

is parse_amount('12,50 EUR'), 1250, 'plain';
is parse_amount('1.234,56 EUR'), 123456, 'thousands';
is parse_amount('7'), 700, 'no cents';
ok !eval { parse_amount('abc'); 1 }, 'rubbish dies';

done_testing;
'''

perl = Session(
    name="r4c_perl_amounts_prove",
    about="A Perl amount parser is fixed test first; the user ends with a question that needs no further change.",
    type="development",
    steps=(
        user("The import booked -2,50 for a refund of -3,50 last night. Somewhere in Ledger::Amount I guess. Tests first please, then the fix, and commit."),
        read("lib/Ledger/Amount.pm", _AMOUNT),
        read("t/amount.t", _AMOUNT_T),
        bash("perl -Ilib -MLedger::Amount=parse_amount -E 'say parse_amount($_) for \"-3,50 EUR\", \"1.234.567,89 EUR\"'", "-250\n123545.7"),
        says("Reproduced: the cents get added to a negative number instead of subtracted. And there is a second bug in the same line above it, only the first dot is removed. I'll put both into the test."),
        edit("t/amount.t", "is parse_amount('7'), 700, 'no cents';\n", "is parse_amount('7'), 700, 'no cents';\nis parse_amount('1.234.567,89 EUR'), 123456789, 'millions';\nis parse_amount('-3,50 EUR'), -350, 'negative with cents';\nis parse_amount('-0,99 EUR'), -99, 'negative below one';\n"),
        bash("prove -l t/", """
#   Failed test 'millions'
#   at t/amount.t line 9.
#          got: '123545.7'
#     expected: '123456789'

#   Failed test 'negative with cents'
#   at t/amount.t line 10.
#          got: '-250'
#     expected: '-350'

#   Failed test 'negative below one'
#   at t/amount.t line 11.
#          got: '99'
#     expected: '-99'
# Looks like you failed 3 tests of 7.
t/00-load.t .. ok
t/amount.t ... 
Dubious, test returned 3 (wstat 768, 0x300)
Failed 3/7 subtests 

Test Summary Report
-------------------
t/amount.t (Wstat: 768 (exited 3) Tests: 7 Failed: 3)
  Failed tests:  4-6
  Non-zero exit status: 3
Files=2, Tests=8,  0 wallclock secs ( 0.02 usr  0.00 sys +  0.07 cusr  0.01 csys =  0.10 CPU)
Result: FAIL
""", 1),
        edit("lib/Ledger/Amount.pm", "    $units =~ s/\\.//;\n    return $units * 100 + ($cents // 0);\n", "    my $sign = $units =~ s/^-// ? -1 : 1;\n    $units =~ s/\\.//g;\n    return $sign * ($units * 100 + ($cents // 0));\n"),
        bash("prove -l t/", """
t/00-load.t .. ok
t/amount.t ... ok
All tests successful.
Files=2, Tests=8,  0 wallclock secs ( 0.03 usr  0.00 sys +  0.07 cusr  0.01 csys =  0.11 CPU)
Result: PASS
"""),
        bash("git add lib/Ledger/Amount.pm t/amount.t && git commit -m 'Amount: keep the sign for cents, drop every thousands dot'", "[main 5d1c0be] Amount: keep the sign for cents, drop every thousands dot\n 2 files changed, 6 insertions(+), 2 deletions(-)"),
        assistant("Fixed and committed as 5d1c0be. The cents were always added, so -3,50 became -300 + 50. Amounts above a million were wrong as well (only the first dot went away); that is fixed in the same commit. All 8 tests pass."),
        user("Would -0,50 have been booked as +0,50 then?"),
        assistant("Yes. \"-0\" times 100 is 0, and 50 was added to it, so any negative amount below one euro came out positive. The new case 'negative below one' covers exactly that. Bookings with a negative amount between -0,01 and -0,99 are the ones to look at in last night's import."),
    ),
)

bats = Session(
    name="r4c_bats_rotate_spaces",
    about="A backup rotation script is made safe for spaces and empty folders; bats passes and it is tried by hand.",
    type="development",
    steps=(
        user("rotate.sh left 'old one.tar.gz' lying around forever and cron mails me when the folder is empty. can you make it robust? bats tests are in test/"),
        bash("cat rotate.sh; ls test; bats --version", """#!/usr/bin/env bash
set -euo pipefail

dir=${1:?usage: rotate.sh DIR KEEP}
keep=${2:?usage: rotate.sh DIR KEEP}

ls -1t "$dir"/*.tar.gz | tail -n +"$((keep + 1))" | xargs rm -f
rotate.bats
Bats 1.8.2"""),
        read("test/rotate.bats", """setup() {
  dir="$BATS_TEST_TMPDIR/backups"
  mkdir "$dir"
}

archive() {
  touch -d "$2" "$dir/$1"
}

@test "keeps the newest archives" {
  archive a.tar.gz "3 days ago"
  archive b.tar.gz "2 days ago"
  archive c.tar.gz "1 day ago"
  run ./rotate.sh "$dir" 2
  [ "$status" -eq 0 ]
  [ ! -e "$dir/a.tar.gz" ]
  [ -e "$dir/c.tar.gz" ]
}
"""),
        edit("test/rotate.bats", """  [ -e "$dir/c.tar.gz" ]
}
""", """  [ -e "$dir/c.tar.gz" ]
}

@test "names with spaces" {
  archive "old one.tar.gz" "3 days ago"
  archive "new one.tar.gz" "1 day ago"
  run ./rotate.sh "$dir" 1
  [ "$status" -eq 0 ]
  [ ! -e "$dir/old one.tar.gz" ]
}

@test "an empty folder is no error" {
  run ./rotate.sh "$dir" 2
  [ "$status" -eq 0 ]
}
"""),
        bash("bats test", """1..3
ok 1 keeps the newest archives
not ok 2 names with spaces
# (in test file test/rotate.bats, line 25)
#   `[ ! -e "$dir/old one.tar.gz" ]' failed
not ok 3 an empty folder is no error
# (in test file test/rotate.bats, line 30)
#   `[ "$status" -eq 0 ]' failed""", 1),
        write("rotate.sh", """#!/usr/bin/env bash
set -euo pipefail

dir=${1:?usage: rotate.sh DIR KEEP}
keep=${2:?usage: rotate.sh DIR KEEP}

find "$dir" -maxdepth 1 -name '*.tar.gz' -printf '%T@ %p\\0' \\
  | sort -zrn \\
  | tail -zn +"$((keep + 1))" \\
  | cut -zd' ' -f2- \\
  | xargs -0r rm -f --
"""),
        bash("bats test && shellcheck rotate.sh && ls -l rotate.sh", """1..3
ok 1 keeps the newest archives
ok 2 names with spaces
ok 3 an empty folder is no error
-rwxr-xr-x 1 user user 284 Mar  2 09:03 rotate.sh"""),
        bash("d=$(mktemp -d); for i in 1 2 3; do touch -d \"$i days ago\" \"$d/b $i.tar.gz\"; done; ./rotate.sh \"$d\" 2; ls \"$d\"", "b 1.tar.gz\nb 2.tar.gz"),
        assistant("""rotate.sh now copes with both:

- **Spaces**: names are passed NUL-separated from `find` to `rm`, so nothing is split any more.
- **Empty folder**: exits 0 and prints nothing, so cron stays quiet.

Two new bats tests cover this (they failed before, all three pass now), shellcheck has nothing to say, and a run with three archives and KEEP=2 left the two newest. It uses GNU options (`find -printf`, `sort -z`), fine on your Debian hosts but not on macOS."""),
    ),
)

_QUOTA = """pub mod store;

pub trait Store {
    fn used(&self, tenant: &str) -> u64;
    fn add(&mut self, tenant: &str, bytes: u64);
}

pub fn remaining(store: &dyn Store, tenant: &str, limit: u64) -> u64 {
    limit - store.used(tenant)
}
"""
rust = Session(
    name="r4c_rust_quota_trait",
    about="A trait method without body gets its implementations in two crates of a workspace; fmt, clippy and tests pass.",
    type="development",
    branch="quota-reset",
    steps=(
        user("We need a monthly reset of the quota: add `reset(&mut self, tenant)` to the Store trait, implement it for Memory and for the sled one in crates/quota-sled. While there, `remaining` panics in debug if a tenant is over the limit, make that 0. CLAUDE.md says what has to be green."),
        bash("cat CLAUDE.md; find crates -name '*.rs'", """# quota

Before you call a change done: `cargo fmt --check`, `cargo clippy --workspace -- -D warnings`, `cargo test --workspace`.
crates/quota/src/lib.rs
crates/quota/src/store.rs
crates/quota-sled/src/lib.rs"""),
        read("crates/quota/src/lib.rs", _QUOTA),
        read("crates/quota/src/store.rs", """use crate::Store;
use std::collections::HashMap;

#[derive(Default)]
pub struct Memory {
    used: HashMap<String, u64>,
}

impl Store for Memory {
    fn used(&self, tenant: &str) -> u64 {
        self.used.get(tenant).copied().unwrap_or(0)
    }

    fn add(&mut self, tenant: &str, bytes: u64) {
        *self.used.entry(tenant.to_owned()).or_default() += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_up() {
        let mut store = Memory::default();
        store.add("acme", 40);
        store.add("acme", 2);
        assert_eq!(store.used("acme"), 42);
    }
}
"""),
        read("crates/quota-sled/src/lib.rs", """use quota::Store;

pub struct Sled {
    tree: sled::Tree,
}

impl Sled {
    pub fn new(tree: sled::Tree) -> Self {
        Self { tree }
    }
}

impl Store for Sled {
    fn used(&self, tenant: &str) -> u64 {
        match self.tree.get(tenant) {
            Ok(Some(raw)) => u64::from_be_bytes(raw.as_ref().try_into().expect("eight bytes")),
            Ok(None) => 0,
            Err(error) => panic!("quota store: {error}"),
        }
    }

    fn add(&mut self, tenant: &str, bytes: u64) {
        let sum = self.used(tenant) + bytes;
        self.tree.insert(tenant, &sum.to_be_bytes()).expect("quota store");
    }
}
"""),
        multi_edit("crates/quota/src/lib.rs",
                   ("    fn add(&mut self, tenant: &str, bytes: u64);\n", "    fn add(&mut self, tenant: &str, bytes: u64);\n    /// Forgets what the tenant has used, at the start of a month.\n    fn reset(&mut self, tenant: &str);\n"),
                   ("    limit - store.used(tenant)\n", "    limit.saturating_sub(store.used(tenant))\n")),
        multi_edit("crates/quota/src/store.rs",
                   ("or_default() += bytes;\n    }\n", "or_default() += bytes;\n    }\n\n    fn reset(&mut self, tenant: &str) {\n        self.used.remove(tenant);\n    }\n"),
                   ("    use super::*;\n", "    use super::*;\n    use crate::remaining;\n"),
                   ("        assert_eq!(store.used(\"acme\"), 42);\n    }\n", "        assert_eq!(store.used(\"acme\"), 42);\n    }\n\n    #[test]\n    fn never_below_zero() {\n        let mut store = Memory::default();\n        store.add(\"acme\", 500);\n        assert_eq!(remaining(&store, \"acme\", 100), 0);\n    }\n\n    #[test]\n    fn reset_leaves_other_tenants_alone() {\n        let mut store = Memory::default();\n        store.add(\"acme\", 500);\n        store.add(\"globex\", 7);\n        store.reset(\"acme\");\n        assert_eq!((store.used(\"acme\"), store.used(\"globex\")), (0, 7));\n    }\n")),
        edit("crates/quota-sled/src/lib.rs", "        self.tree.insert(tenant, &sum.to_be_bytes()).expect(\"quota store\");\n    }\n}\n", """        self.tree.insert(tenant, &sum.to_be_bytes()).expect("quota store");
    }

    fn reset(&mut self, tenant: &str) {
        self.tree.remove(tenant).expect("quota store");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reset_removes_the_key() {
        let db = sled::Config::new().temporary(true).open().unwrap();
        let mut store = Sled::new(db.open_tree("quota").unwrap());
        store.add("acme", 42);
        store.reset("acme");
        assert_eq!(store.used("acme"), 0);
        store.reset("nobody");
    }
}
"""),
        bash("cargo fmt --check && cargo clippy --workspace -- -D warnings && cargo test --workspace", """
Diff in /srv/project/crates/quota-sled/src/lib.rs:23:
     fn add(&mut self, tenant: &str, bytes: u64) {
         let sum = self.used(tenant) + bytes;
-        self.tree.insert(tenant, &sum.to_be_bytes()).expect("quota store");
+        self.tree
+            .insert(tenant, &sum.to_be_bytes())
+            .expect("quota store");
     }
 
     fn reset(&mut self, tenant: &str) {
""", 1),
        says("That line was not formatted before either, but the check has to be green, so I format it."),
        bash("cargo fmt && git diff --stat && cargo fmt --check && cargo clippy --workspace -- -D warnings && cargo test --workspace", """
 crates/quota-sled/src/lib.rs | 26 +++++++++++++++++++++++++-
 crates/quota/src/lib.rs      |  4 +++-
 crates/quota/src/store.rs    | 22 ++++++++++++++++++++++
 3 files changed, 50 insertions(+), 2 deletions(-)
    Checking quota v0.3.0 (/srv/project/crates/quota)
    Checking quota-sled v0.3.0 (/srv/project/crates/quota-sled)
    Finished `dev` profile [unoptimized + debuginfo] target(s) in 1.12s
   Compiling quota v0.3.0 (/srv/project/crates/quota)
   Compiling quota-sled v0.3.0 (/srv/project/crates/quota-sled)
    Finished `test` profile [unoptimized + debuginfo] target(s) in 2.87s
     Running unittests src/lib.rs (target/debug/deps/quota-45c04962b0a32841)

running 3 tests
test store::tests::counts_up ... ok
test store::tests::never_below_zero ... ok
test store::tests::reset_leaves_other_tenants_alone ... ok

test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running unittests src/lib.rs (target/debug/deps/quota_sled-9b1f6f0d2c77a1e0)

running 1 test
test tests::reset_removes_the_key ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s

   Doc-tests quota

running 0 tests

test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

   Doc-tests quota_sled

running 0 tests

test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""),
        assistant("""`Store::reset` exists now, as a required method, with implementations in `Memory` and `Sled`. `remaining` saturates at 0 for tenants over their limit.

fmt, clippy and the workspace tests are green (4 tests, 3 of them new). `cargo fmt` also wrapped one older line in quota-sled that was never formatted.

Since `reset` has no default body, any `Store` implementation outside this repository will fail to compile until it adds one. I take that as wanted; nothing is committed."""),
    ),
)

latex = Session(
    name="r4c_latex_bibliography_de",
    about="In a thesis, undefined citations are repaired and a chapter title fixed; latexmk and the log prove it. German.",
    type="maintenance",
    steps=(
        user("Im PDF stehen auf Seite 12 und 31 Fragezeichen statt Zitaten. Bitte beheben, und Kapitel 3 soll \"Verfahren\" heißen statt \"Methode\". Den Text sonst nicht anfassen."),
        bash("latexmk -pdf -interaction=nonstopmode arbeit.tex >/dev/null; grep -E 'undefined|multiply' arbeit.log", """LaTeX Warning: Citation 'Knuth84' on page 12 undefined on input line 88.
LaTeX Warning: Citation 'mueller-2019' on page 31 undefined on input line 41.
LaTeX Warning: There were undefined references."""),
        bash("grep -rniE 'knuth|mueller|müller' --include='*.tex' --include='*.bib' .", """./kapitel/02_grundlagen.tex:88:Das literarische Programmieren \\cite{Knuth84} verfolgt einen ähnlichen Ansatz.
./kapitel/04_auswertung.tex:41:Dies deckt sich mit \\cite{mueller-2019}.
./literatur.bib:14:@article{knuth1984,
./literatur.bib:15:  author  = {Donald E. Knuth},
./literatur.bib:62:@inproceedings{mueller2019,
./literatur.bib:63:  author = {Müller, Sabine and Ott, Jan}"""),
        bash("sed -n 58,72p literatur.bib; grep -n Methode kapitel/*.tex arbeit.tex", """  year    = {2017}
}

% Konferenz
@inproceedings{mueller2019,
  author = {Müller, Sabine and Ott, Jan}
  title  = {Messung von Antwortzeiten in verteilten Systemen},
  booktitle = {Tagungsband Informatik},
  year   = {2019}
}
kapitel/03_methode.tex:1:\\chapter{Methode}
kapitel/03_methode.tex:2:\\label{chap:methode}
kapitel/04_auswertung.tex:7:Wie in Kapitel~\\ref{chap:methode} beschrieben"""),
        says("Zwei Ursachen: die Schlüssel im Text stimmen nicht, und im Eintrag mueller2019 fehlt ein Komma nach dem Autor, BibTeX überspringt ihn also sogar mit richtigem Schlüssel."),
        edit("kapitel/02_grundlagen.tex", "\\cite{Knuth84}", "\\cite{knuth1984}"),
        edit("kapitel/04_auswertung.tex", "\\cite{mueller-2019}", "\\cite{mueller2019}"),
        edit("literatur.bib", "  author = {Müller, Sabine and Ott, Jan}\n  title", "  author = {Müller, Sabine and Ott, Jan},\n  title"),
        edit("kapitel/03_methode.tex", "\\chapter{Methode}", "\\chapter{Verfahren}"),
        bash("latexmk -C && latexmk -pdf -interaction=nonstopmode arbeit.tex | grep -E 'Output written|Latexmk: All'; grep -cE 'undefined' arbeit.log; grep -iE 'warning|error' arbeit.blg; pdftotext -f 12 -l 12 arbeit.pdf - | grep -n 'literarische'", """Output written on arbeit.pdf (74 pages, 1893321 bytes).
Latexmk: All targets (arbeit.pdf) are up-to-date
0
3:Das literarische Programmieren [4] verfolgt einen ähnlichen Ansatz."""),
        assistant("""Beide Zitate erscheinen jetzt richtig, das Protokoll meldet keine undefinierten Verweise mehr, und BibTeX läuft ohne Warnung durch.

- Seite 12: der Schlüssel hieß `Knuth84` statt `knuth1984`.
- Seite 31: falscher Schlüssel, und dem Eintrag `mueller2019` fehlte ein Komma nach den Autoren.
- Kapitel 3 heißt „Verfahren“. Datei- und Labelname (`03_methode.tex`, `chap:methode`) habe ich gelassen; im PDF sieht man sie nicht."""),
    ),
)

ansible = Session(
    name="r4c_ansible_nginx_headers",
    about="Security headers are rolled out to web hosts by Ansible: syntax check, check mode, run, second run idempotent, curl.",
    type="operations",
    steps=(
        user("Roll out HSTS and X-Content-Type-Options to the staging web hosts with our ansible repo. Only staging! Prod does Marek on Thursday."),
        bash("ls; cat inventories/staging/hosts.yml; cat roles/web/templates/site.conf.j2", """ansible.cfg  inventories  roles  site.yml
web:
  hosts:
    web-s1.example.net:
    web-s2.example.net:
server {
    listen 443 ssl http2;
    server_name {{ site_name }};
    ssl_certificate     {{ tls_cert }};
    ssl_certificate_key {{ tls_key }};

    location / {
        proxy_pass http://127.0.0.1:{{ app_port }};
    }
}"""),
        bash("cat roles/web/tasks/main.yml roles/web/handlers/main.yml roles/web/defaults/main.yml", """- name: site configuration
  ansible.builtin.template:
    src: site.conf.j2
    dest: /etc/nginx/conf.d/site.conf
    mode: "0644"
  notify: reload nginx

- name: configuration is valid
  ansible.builtin.command: nginx -t
  changed_when: false
- name: reload nginx
  ansible.builtin.service:
    name: nginx
    state: reloaded
app_port: 8080"""),
        edit("roles/web/templates/site.conf.j2", "    ssl_certificate_key {{ tls_key }};\n", "    ssl_certificate_key {{ tls_key }};\n\n    add_header Strict-Transport-Security \"max-age={{ hsts_max_age }}\" always;\n    add_header X-Content-Type-Options nosniff always;\n"),
        edit("roles/web/defaults/main.yml", "app_port: 8080", "app_port: 8080\nhsts_max_age: 86400"),
        bash("ansible-lint roles/web && ansible-playbook -i inventories/staging site.yml --check --diff --limit web", """
Passed: 0 failure(s), 0 warning(s) on 4 files. Last profile that met the validation criteria was 'production'.

PLAY [web] *********************************************************************

TASK [Gathering Facts] *********************************************************
ok: [web-s1.example.net]
ok: [web-s2.example.net]

TASK [web : site configuration] ************************************************
--- before: /etc/nginx/conf.d/site.conf
+++ after: /var/backups/.ansible/tmp/ansible-local-88121x/tmp9t/site.conf.j2
@@ -4,6 +4,9 @@
     ssl_certificate     /etc/ssl/site.crt;
     ssl_certificate_key /etc/ssl/site.key;
 
+    add_header Strict-Transport-Security "max-age=86400" always;
+    add_header X-Content-Type-Options nosniff always;
+
     location / {
         proxy_pass http://127.0.0.1:8080;
     }

changed: [web-s1.example.net]
changed: [web-s2.example.net]

TASK [web : configuration is valid] ********************************************
skipping: [web-s1.example.net]
skipping: [web-s2.example.net]

RUNNING HANDLER [web : reload nginx] *******************************************
changed: [web-s1.example.net]
changed: [web-s2.example.net]

PLAY RECAP *********************************************************************
web-s1.example.net         : ok=3    changed=2    unreachable=0    failed=0    skipped=1    rescued=0    ignored=0   
web-s2.example.net         : ok=3    changed=2    unreachable=0    failed=0    skipped=1    rescued=0    ignored=0   
"""),
        bash("ansible-playbook -i inventories/staging site.yml --limit web && ansible-playbook -i inventories/staging site.yml --limit web | tail -3", """
PLAY [web] *********************************************************************

TASK [Gathering Facts] *********************************************************
ok: [web-s1.example.net]
ok: [web-s2.example.net]

TASK [web : site configuration] ************************************************
changed: [web-s1.example.net]
changed: [web-s2.example.net]

TASK [web : configuration is valid] ********************************************
ok: [web-s1.example.net]
ok: [web-s2.example.net]

RUNNING HANDLER [web : reload nginx] *******************************************
changed: [web-s1.example.net]
changed: [web-s2.example.net]

PLAY RECAP *********************************************************************
web-s1.example.net         : ok=4    changed=2    unreachable=0    failed=0    skipped=0    rescued=0    ignored=0   
web-s2.example.net         : ok=4    changed=2    unreachable=0    failed=0    skipped=0    rescued=0    ignored=0   
PLAY RECAP *********************************************************************
web-s1.example.net         : ok=3    changed=0    unreachable=0    failed=0    skipped=0    rescued=0    ignored=0   
web-s2.example.net         : ok=3    changed=0    unreachable=0    failed=0    skipped=0    rescued=0    ignored=0   
"""),
        bash("for h in web-s1 web-s2; do echo \"== $h\"; curl -skI https://$h.example.net/ | grep -iE '^(HTTP|strict|x-content)'; done", """== web-s1
HTTP/2 200 
strict-transport-security: max-age=86400
x-content-type-options: nosniff
== web-s2
HTTP/2 200 
strict-transport-security: max-age=86400
x-content-type-options: nosniff"""),
        assistant("""Both staging hosts send the two headers now; checked with curl after the run. A second run of the playbook changed nothing.

`hsts_max_age` is one day by default so that a mistake can still be taken back; it can be raised per inventory.

Production is untouched. Marek will run `ansible-playbook -i inventories/production site.yml --limit web` on Thursday; the role's default applies there too unless he sets another value."""),
    ),
)

excel_es = Session(
    name="r4c_hoja_de_calculo_es",
    about="A one-off script fills a spreadsheet's missing totals; the result is read back and compared. Spanish.",
    type="simple",
    steps=(
        user("En ventas_2025.xlsx falta la hoja \"Resumen\": una fila por región con la suma de importe, ordenada de mayor a menor. Hazlo con un script de usar y tirar, no lo guardes en el repo."),
        bash("python3 - <<'EOF'\nimport openpyxl\nwb = openpyxl.load_workbook('ventas_2025.xlsx')\nfor ws in wb: print(ws.title, ws.dimensions)\nws = wb.worksheets[0]\nfor r in ws.iter_rows(min_row=1, max_row=4, values_only=True): print(r)\nprint({r[1] for r in ws.iter_rows(min_row=2, values_only=True)})\nprint({type(r[3]).__name__ for r in ws.iter_rows(min_row=2, values_only=True)})\nEOF", """Ventas A1:D1841
('Fecha', 'Región', 'Cliente', 'Importe')
(datetime.datetime(2025, 1, 2, 0, 0), 'Norte', 'C-118', 410.5)
(datetime.datetime(2025, 1, 2, 0, 0), 'Sur', 'C-020', 88)
(datetime.datetime(2025, 1, 3, 0, 0), 'norte ', 'C-118', 120)
{'norte ', 'Levante', 'Norte', 'Sur', 'Centro'}
{'int', 'float', 'str'}"""),
        says("Hay una región mal escrita (\"norte \") y algún importe guardado como texto. Miro esos antes de sumar."),
        bash("python3 - <<'EOF'\nimport openpyxl\nws = openpyxl.load_workbook('ventas_2025.xlsx')['Ventas']\nfor n, r in enumerate(ws.iter_rows(min_row=2, values_only=True), 2):\n    if isinstance(r[3], str): print(n, r)\nEOF", "733 (datetime.datetime(2025, 5, 21, 0, 0), 'Sur', 'C-044', '1.250,00')\n1502 (datetime.datetime(2025, 10, 30, 0, 0), 'Centro', 'C-131', '75,20')"),
        bash("cp ventas_2025.xlsx /tmp/ventas_2025.orig.xlsx && cat > /tmp/resumen.py <<'EOF'\nfrom collections import defaultdict\nfrom decimal import Decimal\nimport openpyxl\n\ndef importe(v):\n    if isinstance(v, str):\n        v = v.replace('.', '').replace(',', '.')\n    return Decimal(str(v))\n\nwb = openpyxl.load_workbook('ventas_2025.xlsx')\nsumas = defaultdict(Decimal)\nfor _, region, _, valor in wb['Ventas'].iter_rows(min_row=2, values_only=True):\n    sumas[region.strip().capitalize()] += importe(valor)\nws = wb.create_sheet('Resumen')\nws.append(['Región', 'Importe'])\nfor region, suma in sorted(sumas.items(), key=lambda p: -p[1]):\n    ws.append([region, float(suma)])\n    ws.cell(ws.max_row, 2).number_format = '#,##0.00'\nwb.save('ventas_2025.xlsx')\nEOF\npython3 /tmp/resumen.py", ""),
        bash("python3 - <<'EOF'\nimport openpyxl\nwb = openpyxl.load_workbook('ventas_2025.xlsx')\nprint(wb.sheetnames, wb['Ventas'].dimensions)\nfor r in wb['Resumen'].iter_rows(values_only=True): print(r)\nprint('total', round(sum(r[1] for r in wb['Resumen'].iter_rows(min_row=2, values_only=True)), 2))\nt = 0\nfor r in wb['Ventas'].iter_rows(min_row=2, values_only=True):\n    t += float(r[3].replace('.', '').replace(',', '.')) if isinstance(r[3], str) else r[3]\nprint('control', round(t, 2))\nEOF\ngit status --short", """['Ventas', 'Resumen'] A1:D1841
('Región', 'Importe')
('Norte', 214880.75)
('Centro', 180112.4)
('Levante', 97340)
('Sur', 61205.3)
total 553538.45
control 553538.45
 M ventas_2025.xlsx"""),
        assistant("""La hoja «Resumen» ya está en `ventas_2025.xlsx`:

| Región | Importe |
|---|---|
| Norte | 214.880,75 |
| Centro | 180.112,40 |
| Levante | 97.340,00 |
| Sur | 61.205,30 |

El total (553.538,45) coincide con la suma de las 1.840 filas. Conté «norte » como Norte y leí como números los dos importes guardados como texto (filas 733 y 1502); en la hoja Ventas no cambié nada. El script está solo en /tmp, junto con una copia del original."""),
    ),
)

android = Session(
    name="r4c_android_todo_by_name",
    about="An Android screen gets pull-to-refresh; the user asked for a TODO with a ticket number; gradle builds and tests.",
    type="development",
    branch="feature/refresh",
    steps=(
        user("""Orders screen: add pull to refresh. ViewModel needs a `refresh()` that reloads from the repository and exposes `isRefreshing`. The offline banner comes later with APP-911, leave a `// TODO(APP-911): offline banner` where it will go. Unit test for the ViewModel, and the debug build must work."""),
        read("app/src/main/java/com/example/orders/OrdersViewModel.kt", """package com.example.orders

import androidx.lifecycle.ViewModel
import androidx.lifecycle.viewModelScope
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.launch

class OrdersViewModel(private val repository: OrdersRepository) : ViewModel() {
    private val _orders = MutableStateFlow<List<Order>>(emptyList())
    val orders: StateFlow<List<Order>> = _orders

    init {
        viewModelScope.launch { _orders.value = repository.load() }
    }
}
"""),
        read("app/src/main/java/com/example/orders/OrdersScreen.kt", """package com.example.orders

import androidx.compose.foundation.layout.*
import androidx.compose.foundation.lazy.*
import androidx.compose.material3.*
import androidx.compose.runtime.*
import androidx.compose.ui.Modifier

@Composable
fun OrdersScreen(viewModel: OrdersViewModel) {
    val orders by viewModel.orders.collectAsState()
    LazyColumn {
        items(orders, key = { it.id }) { OrderRow(it) }
    }
}
"""),
        read("app/src/test/java/com/example/orders/OrdersViewModelTest.kt", """package com.example.orders

import kotlinx.coroutines.test.runTest
import org.junit.Assert.*
import org.junit.Rule
import org.junit.Test

class OrdersViewModelTest {
    @get:Rule val main = MainDispatcherRule()

    @Test
    fun loadsAtStart() = runTest {
        val viewModel = OrdersViewModel(FakeRepository(listOf(Order("1"))))
        assertEquals(listOf(Order("1")), viewModel.orders.value)
    }
}
"""),
        bash("grep -n material app/build.gradle.kts gradle/libs.versions.toml", """app/build.gradle.kts:61:    implementation(libs.androidx.material3)
gradle/libs.versions.toml:22:androidx-material3 = { group = "androidx.compose.material3", name = "material3", version = "1.3.1" }"""),
        edit("app/src/main/java/com/example/orders/OrdersViewModel.kt", """    init {
        viewModelScope.launch { _orders.value = repository.load() }
    }
""", """    private val _isRefreshing = MutableStateFlow(false)
    val isRefreshing: StateFlow<Boolean> = _isRefreshing

    init {
        viewModelScope.launch { _orders.value = repository.load() }
    }

    fun refresh() {
        if (_isRefreshing.value) return
        _isRefreshing.value = true
        viewModelScope.launch {
            try {
                _orders.value = repository.load()
            } catch (_: IOException) {
                // the list that is shown stays
            } finally {
                _isRefreshing.value = false
            }
        }
    }
"""),
        edit("app/src/main/java/com/example/orders/OrdersViewModel.kt", "import kotlinx.coroutines.flow.MutableStateFlow\n", "import java.io.IOException\nimport kotlinx.coroutines.flow.MutableStateFlow\n"),
        edit("app/src/main/java/com/example/orders/OrdersScreen.kt", """    LazyColumn {
        items(orders, key = { it.id }) { OrderRow(it) }
    }
""", """    val isRefreshing by viewModel.isRefreshing.collectAsState()
    PullToRefreshBox(isRefreshing = isRefreshing, onRefresh = viewModel::refresh) {
        // TODO(APP-911): offline banner
        LazyColumn(Modifier.fillMaxSize()) {
            items(orders, key = { it.id }) { OrderRow(it) }
        }
    }
"""),
        edit("app/src/main/java/com/example/orders/OrdersScreen.kt", "import androidx.compose.runtime.*\n", "import androidx.compose.material3.pulltorefresh.PullToRefreshBox\nimport androidx.compose.runtime.*\n"),
        edit("app/src/main/java/com/example/orders/OrdersScreen.kt", "@Composable\n", "@OptIn(ExperimentalMaterial3Api::class)\n@Composable\n"),
        edit("app/src/test/java/com/example/orders/OrdersViewModelTest.kt", "import kotlinx.coroutines.test.runTest\n", "import java.io.IOException\nimport kotlinx.coroutines.test.runTest\n"),
        edit("app/src/test/java/com/example/orders/OrdersViewModelTest.kt", """        assertEquals(listOf(Order("1")), viewModel.orders.value)
    }
""", """        assertEquals(listOf(Order("1")), viewModel.orders.value)
    }

    @Test
    fun refreshReloadsAndEnds() = runTest {
        val repository = FakeRepository(listOf(Order("1")))
        val viewModel = OrdersViewModel(repository)
        repository.orders = listOf(Order("1"), Order("2"))
        viewModel.refresh()
        assertEquals(2, viewModel.orders.value.size)
        assertFalse(viewModel.isRefreshing.value)
    }

    @Test
    fun failedRefreshKeepsTheList() = runTest {
        val repository = FakeRepository(listOf(Order("1")))
        val viewModel = OrdersViewModel(repository)
        repository.failure = IOException("offline")
        viewModel.refresh()
        assertEquals(listOf(Order("1")), viewModel.orders.value)
        assertFalse(viewModel.isRefreshing.value)
    }
"""),
        bash("./gradlew :app:testDebugUnitTest --tests '*OrdersViewModelTest'", """
> Task :app:compileDebugUnitTestKotlin FAILED
e: file:///srv/project/app/src/test/java/com/example/orders/OrdersViewModelTest.kt:32:20 Unresolved reference 'failure'.

FAILURE: Build failed with an exception.

* What went wrong:
Execution failed for task ':app:compileDebugUnitTestKotlin'.
> A failure occurred while executing org.jetbrains.kotlin.compilerRunner.GradleCompilerRunnerWithWorkers$GradleKotlinCompilerWorkAction
   > Compilation error. See log for more details

BUILD FAILED in 14s
""", 1),
        read("app/src/test/java/com/example/orders/FakeRepository.kt", "package com.example.orders\n\nclass FakeRepository(var orders: List<Order>) : OrdersRepository {\n    override suspend fun load() = orders\n}\n"),
        edit("app/src/test/java/com/example/orders/FakeRepository.kt", "    override suspend fun load() = orders\n", "    var failure: Exception? = null\n\n    override suspend fun load(): List<Order> {\n        failure?.let { throw it }\n        return orders\n    }\n"),
        bash("./gradlew :app:testDebugUnitTest :app:assembleDebug", """
> Task :app:compileDebugKotlin UP-TO-DATE
> Task :app:compileDebugUnitTestKotlin
> Task :app:testDebugUnitTest

> Task :app:packageDebug
> Task :app:assembleDebug

BUILD SUCCESSFUL in 31s
58 actionable tasks: 12 executed, 46 up-to-date
"""),
        bash("python3 -c \"import glob,re;[print(f.split('/')[-1], re.search(r'tests=\\\"\\d+\\\" skipped=\\\"\\d+\\\" failures=\\\"\\d+\\\"', open(f).read())[0]) for f in glob.glob('app/build/test-results/testDebugUnitTest/*.xml')]\"", "TEST-com.example.orders.OrdersViewModelTest.xml tests=\"3\" skipped=\"0\" failures=\"0\"\nTEST-com.example.login.LoginViewModelTest.xml tests=\"6\" skipped=\"0\" failures=\"0\""),
        assistant("""Pull to refresh works on the orders screen.

- `OrdersViewModel.refresh()` reloads from the repository and drives `isRefreshing`; a second pull while one is running is ignored, and when the load fails the list on screen stays.
- `OrdersScreen` wraps the list in `PullToRefreshBox`. The comment `// TODO(APP-911): offline banner` sits above the list, where the banner belongs.
- Two new ViewModel tests. All 9 unit tests pass and `assembleDebug` builds. I had no emulator here, so the gesture itself has not been tried on a device."""),
    ),
)

dts = Session(
    name="r4c_dts_declarations_vitest",
    about="Type declarations for a JavaScript package are written: bodies are empty because they are declarations; tsc and vitest pass.",
    type="development",
    steps=(
        user("packages/throttle is plain JS and our TS apps import it as any. Write an index.d.ts for it (don't convert it), hook it up in package.json, and make sure apps/web still typechecks. The vitest suite of the package should stay green, add a type test with expectTypeOf."),
        read("packages/throttle/index.js", """export function throttle(fn, wait, options = {}) {
  const { leading = true, trailing = true } = options
  let timer = null
  let last = null
  function run(...args) {
    if (timer) { last = args; return }
    if (leading) fn(...args)
    else last = args
    timer = setTimeout(() => {
      timer = null
      if (trailing && last) { const a = last; last = null; run(...a) }
    }, wait)
  }
  run.cancel = () => { clearTimeout(timer); timer = null; last = null }
  return run
}

export class Bucket {
  constructor(perSecond) { this.perSecond = perSecond; this.tokens = perSecond }
  take(count = 1) {
    if (this.tokens < count) return false
    this.tokens -= count
    return true
  }
}
"""),
        bash("cat packages/throttle/package.json; grep -rn \"@acme/throttle\" apps --include='*.ts*'", """{
  "name": "@acme/throttle",
  "version": "2.1.0",
  "type": "module",
  "exports": "./index.js",
  "scripts": { "test": "vitest run --typecheck" },
  "files": ["index.js"]
}
apps/web/src/search.tsx:3:import { throttle } from '@acme/throttle'
apps/web/src/api/limiter.ts:1:import { Bucket } from '@acme/throttle'"""),
        write("packages/throttle/index.d.ts", """export interface ThrottleOptions {
  /** Call at the start of the interval. Default: true */
  leading?: boolean
  /** Call once more at its end with the newest arguments. Default: true */
  trailing?: boolean
}

export interface Throttled<A extends unknown[]> {
  (...args: A): void
  cancel(): void
}

export declare function throttle<A extends unknown[]>(
  fn: (...args: A) => unknown,
  wait: number,
  options?: ThrottleOptions,
): Throttled<A>

export declare class Bucket {
  readonly perSecond: number
  tokens: number
  constructor(perSecond: number)
  take(count?: number): boolean
}
"""),
        write("packages/throttle/test/types.test-d.ts", """import { expectTypeOf, test } from 'vitest'
import { Bucket, throttle } from '../index.js'

test('arguments are kept', () => {
  const run = throttle((query: string, page: number) => query.length + page, 50)
  expectTypeOf(run).parameters.toEqualTypeOf<[string, number]>()
  expectTypeOf(run).returns.toBeVoid()
  expectTypeOf(run.cancel).returns.toBeVoid()
})

test('bucket', () => {
  expectTypeOf(new Bucket(5).take).toEqualTypeOf<(count?: number) => boolean>()
})
"""),
        bash("cd packages/throttle && npm pkg set 'exports[.].types=./index.d.ts' 'exports[.].default=./index.js' 'files[1]=index.d.ts' && cat package.json", """{
  "name": "@acme/throttle",
  "version": "2.1.0",
  "type": "module",
  "exports": {
    ".": {
      "types": "./index.d.ts",
      "default": "./index.js"
    }
  },
  "scripts": {
    "test": "vitest run --typecheck"
  },
  "files": [
    "index.js",
    "index.d.ts"
  ]
}"""),
        bash("npm test -w packages/throttle && npx tsc -p apps/web --noEmit", """

> @acme/throttle@2.1.0 test
> vitest run --typecheck


 RUN  v2.1.8 /srv/project/packages/throttle

 ✓ test/throttle.test.js (7 tests) 38ms
 ✓ test/types.test-d.ts (2 tests)

 Test Files  2 passed (2)
      Tests  9 passed (9)
Type Errors  no errors
   Start at  09:02:11
   Duration  1.94s (transform 41ms, setup 0ms, collect 62ms, tests 38ms, environment 0ms, prepare 118ms, typecheck 1.02s)

apps/web/src/api/limiter.ts(9,25): error TS2345: Argument of type 'string' is not assignable to parameter of type 'number'.
""", 2),
        read("apps/web/src/api/limiter.ts", """import { Bucket } from '@acme/throttle'

const perSecond = import.meta.env.VITE_RATE ?? '10'

/** One bucket for all calls of the API. */

let bucket: Bucket | undefined
export function limiter() {
  bucket ??= new Bucket(perSecond)
  return bucket
}
"""),
        says("The declarations found a real one: the rate is a string from the environment. It worked so far because `<` and `-=` coerce. It gets converted where it is read."),
        edit("apps/web/src/api/limiter.ts", "const perSecond = import.meta.env.VITE_RATE ?? '10'\n", "const perSecond = Number(import.meta.env.VITE_RATE ?? '10')\n"),
        bash("npx tsc -p apps/web --noEmit; echo tsc=$?; npm test -w packages/throttle -w apps/web 2>&1 | grep -vE '^$|^>'", """tsc=0
 RUN  v2.1.8 /srv/project/packages/throttle
 ✓ test/throttle.test.js (7 tests) 37ms
 ✓ test/types.test-d.ts (2 tests)
 Test Files  2 passed (2)
      Tests  9 passed (9)
Type Errors  no errors
   Start at  09:03:20
   Duration  1.90s (transform 40ms, setup 0ms, collect 60ms, tests 37ms, environment 0ms, prepare 110ms, typecheck 1.00s)
 RUN  v2.1.8 /srv/project/apps/web
 ✓ src/api/limiter.test.ts (3 tests) 6ms
 ✓ src/search.test.tsx (11 tests) 214ms
 Test Files  2 passed (2)
      Tests  14 passed (14)
   Start at  09:03:24
   Duration  1.41s (transform 190ms, setup 71ms, collect 402ms, tests 220ms, environment 510ms, prepare 150ms)"""),
        assistant("""`@acme/throttle` has declarations now: `index.d.ts`, named under `exports` and `files` in its package.json, plus `test/types.test-d.ts`. The JS is unchanged.

`apps/web` typechecks; to get there I converted `VITE_RATE` to a number in `api/limiter.ts`, which had passed a string to `Bucket`. Vitest: 9 passed in throttle, 14 in web, no type errors."""),
    ),
)

SESSIONS = (perl, bats, rust, latex, ansible, excel_es, android, dts)
INTENDED = {one.name: "good" for one in SESSIONS}
