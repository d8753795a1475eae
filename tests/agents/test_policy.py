"""What a role may do, and where: refusals that an agent can act on, and harmless calls let through."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from language.tables import table

from agents.session.permissions import SIGNAL_PREFIX, Policy, protected_path
from agents.session.tools import SIGNALS
from state.roles import ROLES, Role


@pytest.fixture
def places(tmp_path):
    """A workspace, sq's own state, and somebody else's folder."""
    folders = {name: tmp_path / name for name in ("workspace", "state", "elsewhere")}
    for folder in folders.values():
        folder.mkdir()
    return folders


@pytest.fixture
def worker(places):
    workspace = places["workspace"]
    return Policy(
        tools=ROLES[Role.WORKER].tools,
        readable=(workspace,),
        writable=(workspace,),
        hidden=(places["state"],),
    )


@pytest.fixture
def reviewer(places):
    return Policy(
        tools=ROLES[Role.REVIEWER].tools, readable=(places["workspace"],), hidden=(places["state"],)
    )


def bash(policy, command):
    return policy.judge("Bash", {"command": command})


# --- tools ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "tool", ["WebFetch", "Task", "NotebookEdit", "mcp__other__push", "", "bash", "ToolSearch"]
)
def test_a_tool_that_is_not_on_the_list_is_refused_with_the_list(worker, tool):
    told = worker.judge(tool, {})
    assert ", ".join(ROLES[Role.WORKER].tools) in told


@pytest.mark.parametrize("tool", ["Bash", "Write", "Edit", "AskUserQuestion"])
def test_who_only_reads_has_no_tool_that_does_more(reviewer, tool):
    assert "not one of your tools" in reviewer.judge(tool, {"command": "ls", "file_path": "a.py"})


def test_each_roles_reporting_tools_are_let_through(reviewer):
    for tool in SIGNALS[Role.REVIEWER]:
        assert reviewer.judge(SIGNAL_PREFIX + tool.name, {}) is None


# --- paths ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["Write", "Edit"])
def test_a_worker_writes_in_its_workspace_by_absolute_and_relative_paths(worker, places, tool):
    inside = places["workspace"] / "src" / "new folder" / "a.py"
    for path in (str(inside), "src/a.py", "./a.py", "a/../b.py", f"{places['workspace']}/../workspace/a.py"):
        assert worker.judge(tool, {"file_path": path}) is None


@pytest.mark.parametrize("tool", ["Write", "Edit"])
@pytest.mark.parametrize(
    "path", ["{elsewhere}/a.py", "../elsewhere/a.py", "src/../../elsewhere/a.py", "/etc/passwd"]
)
def test_a_write_outside_the_workspace_is_refused_and_says_where_to_write(worker, places, tool, path):
    told = worker.judge(tool, {"file_path": path.format(**places)})
    assert "outside your workspace" in told
    assert str(places["workspace"]) in told


def test_a_write_to_the_home_folder_is_refused(worker, home):
    assert "outside" in worker.judge("Write", {"file_path": "~/.bashrc"})
    assert "outside" in worker.judge("Write", {"file_path": str(home / ".bashrc")})


def test_a_folder_whose_name_only_begins_like_the_workspace_is_outside(worker, places):
    sibling = places["workspace"].with_name("workspace-2")
    assert "outside" in worker.judge("Write", {"file_path": str(sibling / "a.py")})


@pytest.mark.parametrize("link", ["folder", "file", "chain"])
def test_a_write_through_a_link_that_leaves_the_workspace_is_refused(worker, places, link):
    workspace, elsewhere = places["workspace"], places["elsewhere"]
    (elsewhere / "a.py").touch()
    (workspace / "folder").symlink_to(elsewhere)
    (workspace / "file").symlink_to(elsewhere / "a.py")
    (workspace / "chain").symlink_to(workspace / "file")
    path = workspace / link / "a.py" if link == "folder" else workspace / link
    assert "outside" in worker.judge("Edit", {"file_path": str(path)})


def test_a_link_inside_the_workspace_to_the_workspace_is_fine(worker, places):
    workspace = places["workspace"]
    (workspace / "src").mkdir()
    (workspace / "link").symlink_to(workspace / "src")
    assert worker.judge("Write", {"file_path": str(workspace / "link" / "a.py")}) is None


def test_a_workspace_that_is_reached_through_a_link_is_still_the_workspace(places, tmp_path):
    (tmp_path / "alias").symlink_to(places["workspace"])
    policy = Policy(
        tools=ROLES[Role.WORKER].tools, readable=(tmp_path / "alias",), writable=(tmp_path / "alias",)
    )
    for path in (tmp_path / "alias" / "a.py", places["workspace"] / "a.py"):
        assert policy.judge("Write", {"file_path": str(path)}) is None


@pytest.mark.parametrize(
    "path", [".git", ".git/config", ".git/hooks/pre-commit", ".sq/runs/x", ".claude/settings.json"]
)
def test_a_protected_path_inside_the_workspace_is_refused(worker, places, path):
    for spelled in (path, str(places["workspace"] / path), f"src/../{path}"):
        assert "protected" in worker.judge("Write", {"file_path": spelled})


@pytest.mark.parametrize(
    "path", [".gitignore", ".github/workflows/ci.yml", ".sqlfluff", ".claude/agents/a.md", "git/a"]
)
def test_a_path_that_only_looks_protected_is_writable(worker, path):
    assert worker.judge("Write", {"file_path": path}) is None
    assert protected_path(path) is None


@pytest.mark.parametrize("tool", ["Read", "Glob", "Grep"])
@pytest.mark.parametrize("path", ["{state}", "{state}/runs/r-1/journal.db", "../state/runs", "link/runs"])
def test_nobody_reads_sqs_own_state(worker, reviewer, places, tool, path):
    (places["workspace"] / "link").symlink_to(places["state"])
    field = "file_path" if tool == "Read" else "path"
    for policy in (worker, reviewer):
        assert "sq's own state" in policy.judge(tool, {field: path.format(**places), "pattern": "*"})


@pytest.mark.parametrize("pattern", ["{state}/**", "{state}/runs/*/journal.db", "../state/**/*", "{state}"])
def test_a_pattern_does_not_reach_sqs_own_state_either(reviewer, places, pattern):
    assert "sq's own state" in reviewer.judge("Glob", {"pattern": pattern.format(**places)})
    inside = {"pattern": pattern.format(**places), "path": str(places["workspace"])}
    assert "sq's own state" in reviewer.judge("Glob", inside)


@pytest.mark.parametrize("pattern", ["**/*.py", "src/{a,b}/*.ts", "*", "", "state/**"])
def test_an_ordinary_pattern_is_let_through(reviewer, pattern):
    assert reviewer.judge("Glob", {"pattern": pattern}) is None
    assert reviewer.judge("Grep", {"pattern": "/state/.*", "path": "."}) is None


def test_reading_elsewhere_and_without_a_path_is_let_through(reviewer, places):
    assert reviewer.judge("Read", {"file_path": str(places["elsewhere"] / "a.py")}) is None
    assert reviewer.judge("Grep", {"pattern": "x"}) is None


def test_a_session_that_may_write_nowhere_says_so(places):
    policy = Policy(tools=("Write",), readable=(places["workspace"],))
    assert "only reads" in policy.judge("Write", {"file_path": "a.py"})


@given(path=st.text() | st.sampled_from(["~nobody-of-this-name/x", "a\0b", "/" * 5000, "a/" * 3000, "~"]))
def test_no_path_makes_the_policy_raise_and_none_leads_out(tmp_path_factory, path):
    workspace = tmp_path_factory.getbasetemp() / "policy-workspace"
    workspace.mkdir(exist_ok=True)
    policy = Policy(tools=ROLES[Role.WORKER].tools, readable=(workspace,), writable=(workspace,))
    told = policy.judge("Write", {"file_path": path})
    if told is None and path:
        real = os.path.realpath(workspace / path)
        assert real == str(workspace) or real.startswith(f"{workspace}/")


# --- Bash -----------------------------------------------------------------------------------------------

PUSHING = table(__file__, "pushing")
CHANGING = table(__file__, "changing")
PUBLISHING = table(__file__, "publishing")
BECOMING = table(__file__, "becoming")
DELETING = table(__file__, "deleting")


def commands(text, reason):
    return [(line, reason) for line in text.strip().splitlines()]


@pytest.mark.parametrize(
    ("command", "reason"),
    commands(PUSHING, "pushing is refused")
    + commands(CHANGING, "changing git's state is refused")
    + commands(PUBLISHING, "publishing is refused")
    + commands(BECOMING, "another user is refused")
    + commands(DELETING, "deleting outside the workspace is refused"),
)
def test_a_command_against_the_policy_is_refused_with_what_to_do(worker, command, reason):
    assert reason in bash(worker, command)


HARMLESS = table(__file__, "harmless")


def test_a_resolver_is_refused_with_its_own_way_and_may_add_and_remove(places):
    workspace = places["workspace"]
    resolver = Policy(
        tools=ROLES[Role.RESOLVER].tools, readable=(workspace,), writable=(workspace,), role=Role.RESOLVER
    )
    for command in ("git commit -m both", "git stash", "git push", "git merge --abort"):
        assert "sq concludes the merge" in bash(resolver, command)
    assert bash(resolver, "git add a.py") is None
    assert bash(resolver, "git rm a.py") is None


@pytest.mark.parametrize("command", HARMLESS.strip().splitlines())
def test_a_command_that_only_looks_like_a_refused_one_is_let_through(worker, command):
    assert bash(worker, command) is None


def test_a_command_that_names_sqs_own_state_is_refused(worker, places):
    assert "sq's own state" in bash(worker, f"cat {places['state']}/runs/r-1/journal.db")
    assert "sq's own state" in bash(worker, f"ls '{places['state']}'")


def test_a_command_that_names_a_folder_beside_it_is_not(worker, places):
    assert bash(worker, f"cat {places['state']}-of-the-art/a.md {places['state']}ment.md") is None


def test_a_bash_call_without_a_command_is_no_matter_of_the_policy(worker):
    assert worker.judge("Bash", {}) is None
    assert worker.judge("Bash", {"command": None}) is None


@pytest.mark.parametrize(
    "word", ["-c ", "-C -c ", "--x ", "rm -r ", "npm -a b ", "git ", "A=1 ", "'", '"$HOME" ']
)
def test_a_long_and_odd_command_is_judged_at_once(worker, word):
    for start in ("git ", "npm ", "rm -r ", "sudo", ""):
        bash(worker, f"{start}{word * 300}")


def test_the_tools_of_named_servers_are_allowed_and_of_no_other(tmp_path):
    policy = Policy(tools=("Read",), readable=(tmp_path,), servers=("my words",))
    assert policy.judge("mcp__my_words__look", {}) is None
    assert policy.judge("mcp__other__look", {}) is not None
    assert policy.judge("mcp__my_words_too__look", {}) is not None
