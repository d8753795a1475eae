"""Stops as the hook may be told of them: transcripts in many orders of the list tools, and inputs that are odd."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field

from hypothesis import strategies as st

HOOK = [sys.executable, "-I", "-m", "orchestrator.cli", "hook", "stop"]
LONGEST = 5_000  # characters of a reason or a message
CLAUDE = "3b0f6c1e-1111-4222-8333-444455556666"
STATES = ["pending", "in_progress", "completed", "deleted", "cancelled", "", None, 7]


@dataclass
class Lines:
    """A transcript that grows line by line, in Claude Code's format."""

    lines: list[bytes] = field(default_factory=list)
    compact: bool = True

    def add(self, kind, **entry):
        separators = (",", ":") if self.compact else None
        entry = {"type": kind, "uuid": f"u{len(self.lines)}", "sessionId": CLAUDE, **entry}
        self.lines.append(json.dumps(entry, separators=separators).encode())

    def user(self, content, **more):
        self.add("user", message={"role": "user", "content": content}, **more)

    def assistant(self, *blocks, **more):
        self.add("assistant", message={"role": "assistant", "content": list(blocks)}, **more)

    def call(self, tool, given, result="ok", output="done", data=None, *, side=False):
        """A call of a tool. `result`: ok, error, missing, early (before its call), twice, blocks, or refused in words."""
        id_ = f"toolu_{len(self.lines)}"
        more = {"isSidechain": True} if side else {}
        block = {
            "tool_use_id": id_,
            "type": "tool_result",
            "content": [{"type": "text", "text": output}] if result == "blocks" else output,
            **({"is_error": True} if result == "error" else {}),
        }
        if result == "early":
            self.user([block], toolUseResult=data, **more)
        self.assistant({"type": "tool_use", "id": id_, "name": tool, "input": given}, **more)
        for _ in range({"missing": 0, "early": 0, "twice": 2}.get(result, 1)):
            self.user([block], toolUseResult=data, **more)

    @property
    def data(self):
        return b"\n".join(self.lines) + b"\n"


_results = st.sampled_from(["ok"] * 8 + ["error"] * 4 + ["missing", "early", "twice", "blocks", "refused"])
_ids = st.sampled_from(["1", "2"])
_todo = st.fixed_dictionaries(
    {"content": st.sampled_from("ab"), "status": st.sampled_from(["pending"] * 3 + STATES)}
)
_done = [{"content": name, "status": "completed"} for name in "ab"]
_todos = st.one_of(
    st.just(_done),
    st.just(_done[:1]),
    st.just([]),
    st.lists(_todo, max_size=2),
    st.sampled_from([None, "all", {}, [3], ["a"]]),
)
_states = st.sampled_from(["completed"] * 4 + ["deleted"] * 2 + STATES)
_write = st.tuples(st.just("write"), _todos, _results)
_create = st.tuples(st.just("create"), _ids, _results)
_update = st.tuples(st.just("update"), _ids, _states, _results)
_list = st.tuples(st.just("list"), st.lists(st.tuples(_ids, st.sampled_from(STATES)), max_size=2), _results)
_feedback = st.tuples(st.just("feedback"), st.sampled_from(["Stop", "Stop", "SubagentStop", "TaskCompleted"]))
_noise = st.tuples(
    st.sampled_from(["user", "says", "asks", "side", "request", "junk", "tools", "quoted", "again"])
)
_kinds = st.sampled_from([
    [_write],
    [_write, _feedback],
    [_create, _update, _update],
    [_create, _update, _update, _feedback],
    [_write, _create, _update, _list, _feedback, _noise],
])  # fmt: skip


def _played(lines, step):  # noqa: C901, PLR0912  a case a line
    match step:
        case ("write", todos, result):
            lines.call("TodoWrite", {"todos": todos}, result, "Todos have been modified successfully")
        case ("create", id_, result):
            said = f"Task #{id_} created successfully: Do {id_}"
            lines.call("TaskCreate", {"subject": f"Do {id_}"}, result, said, {"task": {"id": id_}})
        case ("update", id_, status, result):
            given = {"taskId": id_, **({} if status is None else {"status": status})}
            said = "Task not found" if result == "refused" else f"Updated task #{id_} status"
            lines.call("TaskUpdate", given, result, said)
        case ("list", tasks, result):
            listed = [{"id": id_, "subject": f"Do {id_}", "status": status} for id_, status in tasks]
            lines.call("TaskList", {}, result, "The tasks", {"tasks": listed})
        case ("feedback", event):
            lines.user(f"{event} hook feedback:\ngo on", isMeta=True)
        case ("user",):
            lines.user("And now the rest.")
        case ("says",):
            lines.assistant({"type": "text", "text": "All is done."})
        case ("asks",):
            lines.assistant({"type": "text", "text": "Which one is meant?"})
        case ("side",):
            done = [{"content": "a", "status": "completed"}]
            lines.call("TodoWrite", {"todos": done}, output="Todos have been modified", side=True)
        case ("request",):  # whole requests stand in the file too, with the tools and with older calls
            blocks = [{"type": "tool_use", "id": "toolu_0", "name": "TodoWrite", "input": {"todos": []}}]
            lines.add("api-request-blob", message={"role": "assistant", "content": blocks})
        case ("tools",):
            lines.add("attachment", attachment={"tools": [{"name": "TaskCreate"}, {"name": "TodoWrite"}]})
        case ("quoted",):
            lines.user('[{"name":"TaskCreate"}] stood in "name":"TodoWrite"')
        case ("again",) if lines.lines:
            lines.lines.append(lines.lines[-1])
        case _:
            lines.lines.append(b'{"type":"assistant","message":')


@st.composite
def transcripts(draw):
    """The bytes of a transcript."""
    lines = Lines(compact=draw(st.sampled_from([True] * 9 + [False])))
    lines.user("Do it.")
    for step in draw(st.lists(st.one_of(draw(_kinds)), max_size=8)):
        _played(lines, step)
    cut = draw(st.sampled_from([0] * 8 + [1, 20]))
    return lines.data[: len(lines.data) - cut]


_odd = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.lists(st.none(), max_size=2),
)
_texts = st.one_of(
    st.sampled_from(
        ["", "..", "../../evil", "a\0b", "/", "/dev/zero", "/proc/self/mem", "system3-1", "orch-1"]
    ),
    st.text(max_size=20),
    st.text(min_size=300, max_size=310),
)
_fields = {
    "session_id": _texts,
    "prompt_id": _texts,
    "permission_mode": st.sampled_from(["default", "plan", "bypassPermissions"]),
    "stop_hook_active": st.booleans(),
    "last_assistant_message": st.one_of(st.text(max_size=40), st.just("Which one?")),
    "background_tasks": st.lists(
        st.one_of(_odd, st.fixed_dictionaries({"status": st.one_of(_odd, st.just("completed"))})), max_size=2
    ),
    "session_crons": st.lists(_odd, max_size=1),
    "hook_event_name": st.just("Stop"),
}


@st.composite
def inputs(draw, project, transcript):
    """The hook's input: mostly as Claude Code gives it, with fields that are missing or odd."""
    given = draw(
        st.fixed_dictionaries(
            {}, optional={name: st.one_of(of, of, of, _odd) for name, of in _fields.items()}
        )
    )
    paths = [str(transcript)] * 6 + [str(project), "", "a\0b", "/dev/zero", str(project / "nothing"), 7, None]
    given["transcript_path"] = draw(st.sampled_from(paths))
    given["cwd"] = draw(st.sampled_from([str(project)] * 6 + ["", "a\0b", str(project / "nothing"), 7, None]))
    if draw(st.booleans()):
        given["background_tasks"], given["session_crons"] = [], []
    return given


def run_hook(given, *arguments, timeout=60, **environ):
    """The hook as a process: what it said, after a look at whether that is the protocol."""
    data = given if isinstance(given, bytes) else json.dumps(given).encode()
    done = subprocess.run(
        [*HOOK, *arguments],
        input=data,
        env={**os.environ, **environ},
        capture_output=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b""
    return answer_of(done.stdout)


def answer_of(stdout):
    """The one JSON object on stdout, an answer to a Stop hook within its bounds; nothing is an empty one."""
    if not stdout:
        return {}
    assert stdout.endswith(b"\n")
    assert stdout.count(b"\n") == 1
    said = json.loads(stdout)
    check_answer(said)
    return said


def check_answer(said):
    assert set(said) <= {"decision", "reason", "systemMessage"}
    assert said.get("decision", "block") == "block"
    assert ("decision" in said) == ("reason" in said)
    for words in said.values():
        assert isinstance(words, str)
        assert 0 < len(words) <= LONGEST
