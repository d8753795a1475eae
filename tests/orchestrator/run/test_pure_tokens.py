"""A token in a change is named by its file and line, and never repeated."""

from orchestrator.run.review.tokens import tokens_in_diff

TOKEN = f"glpa{'t-'}aB3dE5fG7hJ9kL1mN3pQ"
DIFF = f"""diff --git a/old.py b/old.py
index 1..2 100644
--- a/old.py
+++ b/old.py
@@ -3 +3,2 @@ def f():
-old = "{TOKEN}"
+x = 1
+++ y
@@ -10,0 +12 @@
+token = "{TOKEN}"
diff --git "a/b\\nc.py" "b/b\\nc.py"
new file mode 100644
--- /dev/null
+++ b/new.py
@@ -0,0 +1,2 @@
+first
+{TOKEN}
"""


def test_a_token_in_added_lines_is_named_by_file_and_line():
    assert list(tokens_in_diff(DIFF)) == ["old.py:12: GitLab token", "new.py:2: GitLab token"]


def test_a_token_that_a_change_removes_is_not_named():
    assert list(tokens_in_diff(DIFF.split("@@ -10", maxsplit=1)[0])) == []
