"""A judge that answers by files: each prompt is written to a file, each reply is read from a file.

So anything that can answer a prompt in JSON can be measured, at its own pace.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from agents.ask.port import Ask, Reply
from agents.caller import Caller
from agents.roles.judge import judge_ask
from benchmarks.gate_sessions import Labelled
from orchestrator.gates.power_steering.considerations import Consideration
from orchestrator.gates.power_steering.examination import Judge
from state.errors import UsageError
from state.records.calls import CallEnd
from state.roles import Role
from state.settings.records import Model


class FileJudge:
    """Answers the prompts of a data set by the files in `replies`, and keeps the prompts.

    A file is named SESSION.CONSIDERATION.json, with a dot for each slash of the session's name. Without the
    file, or with `replies` None, there is no answer.
    """

    def __init__(self, considerations: Sequence[Consideration], model: Model, replies: Path | None) -> None:
        """Keep the considerations that may be asked, and the model whose context the prompts have to fit."""
        self.asked: dict[str, tuple[str, str, Ask]] = {}
        self._considerations = considerations
        self._model = model
        self._replies = replies

    def of(self, session: Labelled) -> Judge:
        """The judge of one session."""
        stem = session.name.replace("/", ".")
        lane = Caller(role=Role.JUDGE, task=stem, attempt=1)
        # An `Ask` does not name its consideration, so its prompt identifies it.
        ids = {
            judge_ask([one], model=self._model, lane=lane, shared="", before={}, deadline_s=0).prompt: one.id
            for one in self._considerations
        }

        async def ask(ask: Ask) -> Reply:
            id_ = ids[ask.prompt]
            self.asked[f"{stem}.{id_}"] = (session.name, id_, ask)
            return self._reply(f"{stem}.{id_}")

        return Judge(model=self._model, ask=ask, lane=lane)

    def write_prompts(self, folder: Path) -> int:
        """Write each prompt that was asked, and return their number.

        Raises:
            UsageError: the folder cannot be written.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, (session, id_, ask) in self.asked.items():
                shown = {
                    "id": name,
                    "session": session,
                    "consideration": id_,
                    "system": ask.system,
                    "shared": ask.shared,
                    "prompt": ask.prompt,
                    "schema": ask.schema,
                }
                text = json.dumps(shown, ensure_ascii=False, indent=1)
                (folder / f"{name}.json").write_text(f"{text}\n", "utf-8", newline="\n")
        except OSError as error:
            raise UsageError(f"--judge-prompts {folder}: cannot be written: {error}") from error
        return len(self.asked)

    def _reply(self, name: str) -> Reply:
        file = self._replies / f"{name}.json" if self._replies else None
        if file is None or not file.is_file():
            return Reply(end=CallEnd.UNANSWERED, detail=f"there is no {name}.json")
        text = file.read_text("utf-8", errors="replace")
        try:
            answer = json.loads(text)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            return Reply(end=CallEnd.UNUSABLE, text=text, detail=f"{name}.json holds no JSON object")
        return Reply(end=CallEnd.COMPLETED, answer=answer)
