"""The words in which sessions are told: each gives a step, which writes lines of the transcript."""

from dataclasses import dataclass

from written_sessions.lines import FOLDER, Lines

_MARKS = {"x": "completed", ">": "in_progress", "-": "pending"}
_REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit,"
    " the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to"
    " proceed."
)
_STOPPED = (
    f"{_REJECTED} Correction to the text above: this call was stopped while running, not refused before it ran. It"
    " may have run in part or in full, and its changes may have been written. No permission prompt was involved."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmet:
    """A consideration that is not met; `visible`: calls and results show it without the words."""

    id: str
    visible: bool
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session in short form, with its label."""

    name: str
    about: str
    type: str
    steps: tuple
    unmet: tuple[Unmet, ...] = ()
    pair_with: str = ""
    branch: str = "main"

    def label(self, sessions):
        """The label as the data set keeps it; a pair flips what is unmet here and met there."""
        label = {
            "about": self.about,
            "session_type": self.type,
            "unmet": {one.id: {"visible_to_rules": one.visible, "why": one.why} for one in self.unmet},
        }
        if self.pair_with:
            there = {one.id for one in sessions[self.pair_with].unmet}
            flips = [one.id for one in self.unmet if one.id not in there]
            label["pair"] = {"with": self.pair_with, "flips": flips}
        return label

    def written(self):
        """The transcript, with those of its subagents in `agents`."""
        lines = Lines(self.name, branch=self.branch)
        for step in _flat(self.steps):
            step(lines)
        lines.ended()
        return lines


def _flat(steps):
    for step in steps:
        if isinstance(step, list | tuple):
            yield from _flat(step)
        else:
            yield step


def shown(id_, why):
    """Not met, and calls and results show it."""
    return Unmet(id=id_, visible=True, why=why)


def hidden(id_, why):
    """Not met, and only understanding shows it."""
    return Unmet(id=id_, visible=False, why=why)


def user(text):
    """A prompt of the user."""

    def step(lines):
        if lines.is_aside:  # what a subagent is asked
            lines.from_user(text)
            return
        first = lines.prompted(text)
        lines.from_user(text, permissionMode="default", promptSource="sdk", turnOrigin="sdk")
        if first:
            lines.begun()

    return step


def older_user(text, *, reminder):
    """A prompt as older versions wrote it: no source is named, and a reminder stands before it."""

    def step(lines):
        lines.prompted(text)
        texts = (f"<system-reminder>\n{reminder}\n</system-reminder>", text)
        lines.from_user([{"type": "text", "text": each} for each in texts])

    return step


def queued(text):
    """Typed while the agent works."""

    def step(lines):
        queue = {"type": "queue-operation", "sessionId": lines.session_id, "content": text}
        lines.plain(**queue, operation="enqueue", timestamp=lines.now())
        lines.plain(**queue, operation="remove", timestamp=lines.now(), reason="absorbed_mid_turn")
        lines.attached(
            {"type": "queued_command", "prompt": text, "commandMode": "prompt", "timestamp": lines.now()},
            f"The user sent a new message while you were working:\n{text}",
        )

    return step


def typed_command(name, args=""):
    """A `/name` that the CLI knows and puts into words itself; its text follows."""

    def step(lines):
        first = lines.prompted(f"/{name} {args}".strip())
        text = f"<command-message>{name}</command-message>\n<command-name>/{name}</command-name>"
        lines.from_user(f"{text}\n<command-args>{args}</command-args>" if args else text, turnOrigin="sdk")
        told = (
            f"Base directory for this skill: {FOLDER}/.claude/skills/{name}\n\nFollow the steps of {name}.\n"
        )
        lines.from_user([{"type": "text", "text": told}], isMeta=True, turnCompanion=True)
        if first:
            lines.begun()

    return step


def says(text):
    """Words of the agent before its next call."""
    return lambda lines: lines.replied({"type": "text", "text": text}, ends=False)


def assistant(text):
    """Words of the agent that end its turn."""
    return lambda lines: lines.replied({"type": "text", "text": text.strip()}, ends=True)


def bash(command, output="", exit_code=0, **given):
    """A command that ran to its end."""
    return lambda lines: lines.ran(command, output.strip("\n"), exit_code, **given)


def bash_at_length(command, output):
    """A command with more output than the model is shown."""
    return lambda lines: lines.ran_at_length(command, output)


def read(path, content):
    """A file that was read. `path` is in the project."""

    def step(lines):
        place = path if path.startswith("/") else f"{FOLDER}/{path}"
        lines.files[path] = content
        rows = content.split("\n")
        numbered = "\n".join(f"{number}\t{row}" for number, row in enumerate(rows, start=1))
        file = {
            "filePath": place,
            "content": content,
            "numLines": len(rows),
            "startLine": 1,
            "totalLines": len(rows),
        }
        id_ = lines.called("Read", {"file_path": place})
        lines.returned(id_, numbered, {"type": "text", "file": file})

    return step


def grep(pattern, *found):
    """A search with its hits."""

    def step(lines):
        id_ = lines.called("Grep", {"pattern": pattern, "output_mode": "content", "-n": True})
        data = {
            "mode": "content",
            "numFiles": 0,
            "filenames": [],
            "content": "\n".join(found),
            "numLines": len(found),
        }
        lines.returned(id_, "\n".join(found) or "No matches found", data)

    return step


def edit(path, old, new):
    """An edit that was made; `old` has to be in the file as far as the session knows it."""
    given = {"old_string": old, "new_string": new, "replace_all": False}
    return lambda lines: lines.changed("Edit", path, given, [(old, new)])


def multi_edit(path, *pairs):
    """Several edits of one file in one call."""
    edits = [{"old_string": old, "new_string": new} for old, new in pairs]
    return lambda lines: lines.changed("MultiEdit", path, {"edits": edits}, pairs)


def write(path, content):
    """A file that was written, new or not."""
    return lambda lines: lines.wrote(path, content)


def todos(*items):
    """The todo list: `x done`, `> in progress`, `- pending`."""

    def step(lines):
        new = [{"content": one[2:], "status": _MARKS[one[0]], "activeForm": one[2:]} for one in items]
        id_ = lines.called("TodoWrite", {"todos": new})
        text = (
            "Todos have been modified successfully. Ensure that you continue to use the todo list to track your"
            " progress. Please proceed with the current tasks if applicable"
        )
        lines.returned(id_, text, {"oldTodos": list(lines.todos), "newTodos": new})
        lines.todos[:] = new

    return step


def task_create(subject):
    """A task on the agent's list; ids count from 1."""

    def step(lines):
        number = str(len(lines.tasks) + 1)
        lines.tasks[number] = "pending"
        id_ = lines.called("TaskCreate", {"subject": subject, "description": subject})
        task = {"id": number, "subject": subject, "description": subject}
        lines.returned(id_, f"Task #{number} created successfully: {subject}", {"task": task})

    return step


def task_update(number, status):
    """A task of the list in a new state."""

    def step(lines):
        change = {"from": lines.tasks[str(number)], "to": status}
        lines.tasks[str(number)] = status
        id_ = lines.called("TaskUpdate", {"taskId": str(number), "status": status})
        field = "deleted" if status == "deleted" else "status"
        data = {"success": True, "taskId": str(number), "updatedFields": [field], "statusChange": change}
        lines.returned(id_, f"Updated task #{number} {field}", data)

    return step


def skill(name):
    """A skill that the agent called."""

    def step(lines):
        id_ = lines.called("Skill", {"skill": name})
        lines.returned(id_, f"Launching skill: {name}", {"success": True, "commandName": name})
        lines.from_user(
            [{"type": "text", "text": f"Follow the steps of {name}.\n"}], isMeta=True, turnCompanion=True
        )

    return step


def hook_feedback(reason):
    """A Stop hook that blocked, with what it said."""

    def step(lines):
        lines.from_user(f"Stop hook feedback:\n{reason}", isMeta=True)
        error = {"blockingError": reason, "command": "callback"}
        lines.attached(
            {"type": "hook_blocking_error", "hookName": "Stop", "hookEvent": "Stop", "blockingError": error},
            f'Stop hook blocking error from command: "callback": {reason}',
        )
        _hook_summary(lines, [reason])

    return step


def stop_allowed():
    """A Stop hook that let the session stop."""
    return lambda lines: _hook_summary(lines, [])


def _hook_summary(lines, errors):
    lines.linked(
        type="system", subtype="stop_hook_summary", hookCount=1, hookInfos=[{"command": "callback"}],
        hookErrors=errors, preventedContinuation=False, stopReason="", hasOutput=bool(errors), level="suggestion",
    )  # fmt: skip


def reminder(text):
    """A note that the CLI puts into the conversation by itself."""
    return lambda lines: lines.attached({"type": "todo_reminder", "content": [], "itemCount": 0}, text)


def reminder_entry(text):
    """The same in an entry of type user, as it is written beside some results."""
    return lambda lines: lines.from_user(f"<system-reminder>\n{text}\n</system-reminder>", isMeta=True)


def compacted(summary):
    """What came before is a summary from here on."""

    def step(lines):
        old = lines.parent
        lines.linked(
            parent=None, logicalParentUuid=old, type="system", subtype="compact_boundary", level="info", isMeta=False,
            content="Conversation compacted", compactMetadata={"trigger": "auto", "preTokens": 167_000},
        )  # fmt: skip
        text = (
            "This session is being continued from a previous conversation that ran out of context. The summary below"
            f" covers the earlier portion of the conversation.\n\nSummary:\n{summary}\n\nContinue the conversation from"
            " where it left off without asking the user any further questions."
        )
        lines.from_user(text, isVisibleInTranscriptOnly=True, isCompactSummary=True)

    return step


def subagent(agent_id, description, prompt, *steps, report):
    """A subagent that worked to its end; its own transcript lies beside the session's."""

    def step(lines):
        id_ = lines.called(
            "Agent", {"description": description, "prompt": prompt, "subagent_type": "general-purpose"}
        )
        inner = Lines(lines.name, branch=lines.branch, agent_id=agent_id, main=lines)
        inner.prompt_id = lines.prompt_id
        inner.from_user(prompt)
        for each in _flat((*steps, assistant(report))):
            each(inner)
        lines.agents[agent_id] = inner
        data = {
            "status": "completed", "prompt": prompt, "agentId": agent_id, "agentType": "general-purpose",
            "content": [{"type": "text", "text": report}], "totalToolUseCount": inner.calls,
        }  # fmt: skip
        frame = (
            "[Subagent hand-back] The text below is the final report of a subagent this session delegated to."
        )
        text = f"{frame} The report follows:\n  {report}\nagentId: {agent_id}"
        lines.returned(id_, [{"type": "text", "text": text}], data)

    return step


def sidechain(*steps):
    """A subagent's lines in the session's own file, as older versions kept them."""

    def step(lines):
        parent, lines.is_aside = lines.parent, True
        for each in _flat(steps):
            each(lines)
        lines.parent, lines.is_aside = parent, False

    return step


def interrupted():
    """The user stopped the agent while it wrote."""
    return lambda lines: lines.from_user([{"type": "text", "text": "[Request interrupted by user]"}])


def interrupted_bash(command):
    """The user stopped the agent while a command ran."""

    def step(lines):
        id_ = lines.called("Bash", {"command": command})
        lines.returned(id_, _STOPPED, "User rejected tool use", is_error=True, toolDenialKind="user-rejected")
        lines.from_user([{"type": "text", "text": "[Request interrupted by user for tool use]"}])

    return step


def refused(command, reason=""):
    """A command that was not allowed to run: by a hook that gives its reason, else by the permission rules."""

    def step(lines):
        id_ = lines.called("Bash", {"command": command})
        text = f"PreToolUse:Bash hook error: {reason}" if reason else "This command requires approval"
        lines.returned(id_, text, f"Error: {text}", is_error=True, toolDenialKind="permission-rule")

    return step


def background(task_id, command):
    """A command that goes on in the background."""

    def step(lines):
        id_ = lines.called("Bash", {"command": command, "run_in_background": True})
        place = f"/home/user/claude/-srv-project/{lines.session_id}/tasks/{task_id}.output"
        text = (
            f"Command running in background with ID: {task_id}. Output is being written to: {place}. You will be"
            " notified when it completes. To check interim output, use Read on that file path."
        )
        data = {
            "stdout": "", "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False,
            "backgroundTaskId": task_id,
        }  # fmt: skip
        lines.returned(id_, text, data, is_error=False, sandboxed=False)

    return step


def background_ended(task_id, command, exit_code):
    """The CLI tells how a command in the background ended."""

    def step(lines):
        status = "failed" if exit_code else "completed"
        told = f'Background command "{command}" {"failed with" if exit_code else "completed ("}'
        told += f" exit code {exit_code}" if exit_code else "exit code 0)"
        text = (
            f"<task-notification>\n<task-id>{task_id}</task-id>\n<status>{status}</status>\n"
            f"<summary>{told}</summary>\n</task-notification>"
        )
        queue = {"type": "queue-operation", "sessionId": lines.session_id}
        lines.plain(**queue, operation="enqueue", timestamp=lines.now(), content=text)
        lines.plain(**queue, operation="dequeue", timestamp=lines.now())
        lines.from_user(
            text, origin={"kind": "task-notification"}, promptSource="system", turnOrigin="task_notification"
        )

    return step


def api_error(status, kind, words):
    """The model could not be reached; the CLI writes in its place."""

    def step(lines):
        text = f"API Error: {status} {words}"
        message = {
            "id": f"error-{lines.count}", "model": "<synthetic>", "role": "assistant", "type": "message",
            "stop_reason": "stop_sequence", "content": [{"type": "text", "text": text}],
        }  # fmt: skip
        lines.is_replying = False
        lines.linked(
            type="assistant", message=message, error="server_error", isApiErrorMessage=True, apiErrorStatus=status,
            apiErrorType=kind, madeBy="model",
        )  # fmt: skip

    return step


def unknown_entries():
    """Lines of kinds that nobody has seen yet, one of them no JSON."""

    def step(lines):
        lines.plain(
            type="weather-report",
            sessionId=lines.session_id,
            message={"role": "user", "content": "tests fail"},
        )
        lines.plain(kind="entry without a type", content=["todo"])
        lines.told.append("=== log rotated ===")

    return step


def half_a_line():
    """The last line, cut off while it was written."""

    def step(lines):
        lines.half = f'{{"parentUuid":"{lines.parent}","isSidechain":false,"message":{{"role":"assi'

    return step
