"""The history of an attempt, from the journal."""

from orchestrator.run.record import Run
from state.journal.events import MessageReceived
from state.journal.events.tasks import TaskView
from state.records.calls import Message, MessageKind


def whole_history(run: Run, task: TaskView) -> list[Message]:
    """Everything that was said in the attempt's session, prompts included, from the journal."""
    calls = set(task.open.calls)
    prompts = {id_: run.view.calls[id_].started.prompt for id_ in calls}
    told: list[Message] = []
    for stored in run.recorder.read():
        event = stored.event
        if isinstance(event, MessageReceived) and event.call_id in calls:
            if prompt := prompts.pop(event.call_id, ""):
                told.append(Message(kind=MessageKind.PROMPT, text=prompt))
            told.append(event.message)
    return told
