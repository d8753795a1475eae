"""The lines of a session as Claude Code 2.1.329 writes them; ids and times follow from the position alone."""

import difflib
import json
import re
from datetime import UTC, datetime, timedelta
from uuid import NAMESPACE_URL, uuid5

FOLDER = "/srv/project"
_MODEL = "claude-opus-5-5"
_BEGIN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
_STEP = timedelta(milliseconds=1700)
_COMMITTED = re.compile(r"^\[(\S+)(?: \(root-commit\))? ([0-9a-f]{7,})\] ", re.MULTILINE)
_AROUND = 3  # lines of context in a patch
_PREVIEW = 2_000  # of an output that the CLI keeps in a file


class Lines:
    """A transcript that is being written, the main one or a subagent's.

    `files`, `todos` and `tasks` are what the session knows of them; a subagent shares them with the main one.
    """

    def __init__(self, name, *, branch="main", agent_id="", main=None):
        self.name = name
        self.branch = branch
        self.agent_id = agent_id
        self.session_id = main.session_id if main else self._uuid("session")
        self.files = main.files if main else {}
        self.todos = main.todos if main else []
        self.tasks = main.tasks if main else {}
        self.clock = main.clock if main else [0]
        self.agents = {}
        self.told = []
        self.half = ""
        self.parent = None
        self.prompt = ""
        self.prompt_id = ""
        self.count = self.replies = self.calls = 0
        self.is_aside = bool(agent_id)
        self.is_replying = False

    @property
    def text(self):
        return "".join(f"{line}\n" for line in self.told) + self.half

    def _uuid(self, what):
        return str(uuid5(NAMESPACE_URL, f"labelled-session:{self.name}:{self.agent_id}:{what}"))

    def now(self):
        self.clock[0] += 1
        return (_BEGIN + self.clock[0] * _STEP).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def plain(self, **fields):
        """A line outside the conversation."""
        self.told.append(json.dumps(fields, ensure_ascii=False, separators=(",", ":")))

    def linked(self, *, parent=..., **fields):
        """A line of the conversation, linked to the one before it; its uuid."""
        self.count += 1
        uuid = self._uuid(self.count)
        head = {"parentUuid": self.parent if parent is ... else parent, "isSidechain": self.is_aside}
        if self.agent_id:
            head["agentId"] = self.agent_id
        self.plain(
            **head, **fields, uuid=uuid, timestamp=self.now(), userType="external", entrypoint="sdk-py",
            cwd=FOLDER, sessionId=self.session_id, version="2.1.329", gitBranch=self.branch,
        )  # fmt: skip
        self.parent = uuid
        return uuid

    def from_user(self, content, **more):
        self.is_replying = False
        message = {"role": "user", "content": content}
        return self.linked(promptId=self.prompt_id, type="user", message=message, **more)

    def prompted(self, text):
        """A prompt was sent: what the CLI notes around it."""
        first = not self.prompt
        self.prompt = text
        self.prompt_id = self._uuid(f"prompt {self.count}")
        for operation in ("enqueue", "dequeue"):
            queued = {"content": text} if operation == "enqueue" else {}
            self.plain(
                type="queue-operation", operation=operation, timestamp=self.now(), sessionId=self.session_id,
                **queued,
            )  # fmt: skip
        return first

    def attached(self, attachment, shown):
        self.linked(
            attachment=attachment, type="attachment", renderedRole="system",
            rendered=[{"content": f"<system-reminder>\n{shown}\n</system-reminder>"}],
        )  # fmt: skip

    def begun(self):
        """What the CLI writes after the first prompt of a session."""
        powered = f"You are powered by the model named Opus 5.5. The exact model ID is {_MODEL}."
        identity = {"modelId": _MODEL, "marketingName": "Opus 5.5"}
        self.attached({"type": "model", "identity": identity, "text": powered}, powered)
        self.plain(type="atis-latch", atis="", sessionId=self.session_id)
        day = f"{_BEGIN:%Y-%m-%d}"
        self.attached({"type": "date", "date": day}, f"Today's date is {day}.")
        self.plain(
            type="api-request", sessionId=self.session_id, id=self._uuid("request"), timestamp=self.now(),
            version="2.1.329", querySource="sdk", params={}, keep={}, tail={}, cacheControl={},
        )  # fmt: skip

    def replied(self, block, *, ends):
        """A block of the model's reply; blocks until the next result are one reply."""
        if not self.is_replying:
            self.replies += 1
        self.is_replying = not ends
        message = {
            "id": f"msg_{uuid5(NAMESPACE_URL, f'{self.name}{self.agent_id}{self.replies}').hex}", "type": "message",
            "role": "assistant", "model": _MODEL, "content": [block],
            "stop_reason": "end_turn" if ends else "tool_use",
        }  # fmt: skip
        return self.linked(message=message, type="assistant", madeBy="model")

    def called(self, tool, given):
        """A call; its id, to be given to `returned`."""
        self.calls += 1
        name = f"{self.name}{self.agent_id}{self.calls}"
        id_ = f"toolu_{uuid5(NAMESPACE_URL, name).hex[:20]}"
        self.replied({"type": "tool_use", "id": id_, "name": tool, "input": given}, ends=False)
        return id_

    def returned(self, id_, text, data=None, *, is_error=None, **more):
        """The result of a call, in an entry of type user."""
        block = {"tool_use_id": id_, "type": "tool_result", "content": text}
        if is_error is not None:
            block["is_error"] = is_error
        if data is not None and not self.agent_id:  # the CLI notes nothing beside a subagent's results
            more["toolUseResult"] = data
        self.from_user([block], **more)

    def ran(self, command, output, code, **given):
        """A Bash command that ran to its end."""
        id_ = self.called("Bash", {"command": command, **given})
        if code:
            self.returned(
                id_,
                f"Exit code {code}\n{output}",
                f"Error: Exit code {code}\n{output}",
                is_error=True,
                sandboxed=False,
            )
            return
        data = {
            "stdout": output, "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False
        }  # fmt: skip
        if made := _COMMITTED.search(output):
            data["gitOperation"] = {"commit": {"sha": made[2], "kind": "committed", "branch": made[1]}}
        self.returned(id_, output or "(Bash completed with no output)", data, is_error=False, sandboxed=False)

    def ran_at_length(self, command, output):
        """A Bash command whose output the CLI keeps in a file: the model sees how it begins."""
        id_ = self.called("Bash", {"command": command})
        size = len(output.encode())
        place = (
            f"/home/user/claude/projects/-srv-project/{self.session_id}/tool-results/b{self.calls:08d}.txt"
        )
        text = (
            f"<persisted-output>\nOutput too large ({size / 1024:.1f}KB). Full output saved to: {place}\n\n"
            f"Preview (first 2KB):\n{output[:_PREVIEW]}\n...\n</persisted-output>"
        )
        data = {
            "stdout": output[:_PREVIEW], "stderr": "", "interrupted": False, "isImage": False,
            "noOutputExpected": False, "persistedOutputPath": place, "persistedOutputSize": size,
        }  # fmt: skip
        self.returned(id_, text, data, is_error=False, sandboxed=False)

    def changed(self, tool, path, given, pairs):
        """An Edit or MultiEdit that was made."""
        place = f"{FOLDER}/{path}"
        id_ = self.called(tool, {"file_path": place, **given})
        before = self.files.get(path) or "\n".join(old for old, _ in pairs)
        after = before
        for old, new in pairs:
            if old not in after:
                raise ValueError(f"{self.name}: {path} does not hold {old!r}")
            after = after.replace(old, new, 1)
        self.files[path] = after
        data = {
            "filePath": place, "originalFile": before, "structuredPatch": _patch(before, after), "userModified": False,
            "oldString": pairs[0][0], "newString": pairs[0][1], "replaceAll": False,
        }  # fmt: skip
        if tool == "MultiEdit":
            data |= {"edits": given["edits"]}
        self.returned(
            id_, f"The file {place} has been updated successfully. (file state is current in your context"
            " — no need to Read it back)", data,
        )  # fmt: skip

    def wrote(self, path, content):
        place = path if path.startswith("/") else f"{FOLDER}/{path}"
        id_ = self.called("Write", {"file_path": place, "content": content})
        before = self.files.get(path)
        self.files[path] = content
        kind, words = ("update", "The file {} has been updated") if before else ("create", "File created")
        data = {
            "type": kind, "filePath": place, "content": content, "originalFile": before, "userModified": False,
            "structuredPatch": _patch(before, content) if before else [],
        }  # fmt: skip
        said = f"{words.format(place)} successfully" + ("." if before else f" at: {place}")
        self.returned(id_, f"{said} (file state is current in your context — no need to Read it back)", data)

    def ended(self):
        """What the CLI writes when a session is left."""
        self.plain(
            type="last-prompt", lastPrompt=self.prompt, leafUuid=self.parent, sessionId=self.session_id
        )
        cost = round(self.replies * 0.0064, 4)
        self.plain(type="cost-state", sessionId=self.session_id, totalCostUSD=cost)


def _patch(before, after):
    """What changed, in hunks as the CLI notes them."""
    old, new = before.splitlines(), after.splitlines()
    hunks = []
    for group in difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_grouped_opcodes(_AROUND):
        lines = []
        for tag, a_from, a_to, b_from, b_to in group:
            if tag == "equal":
                lines += [f" {line}" for line in old[a_from:a_to]]
                continue
            lines += [f"-{line}" for line in old[a_from:a_to]] + [f"+{line}" for line in new[b_from:b_to]]
        first, last = group[0], group[-1]
        hunks.append({
            "oldStart": first[1] + 1, "oldLines": last[2] - first[1],
            "newStart": first[3] + 1, "newLines": last[4] - first[3], "lines": lines,
        })  # fmt: skip
    return hunks
