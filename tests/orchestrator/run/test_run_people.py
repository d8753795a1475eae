"""People speak to a run while it goes on: words, pauses, answers to parked questions. Each is heard once."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from language.large_runs import RUN_ID, twelve_tasks, write
from language.scripted import (
    Done,
    Rehearse,
    analyzes,
    answer,
    answers,
    asks,
    completes,
    passes,
    plans,
    question,
    signals,
    whole_run,
    worker,
    writes,
)
from language.stopping import newest, stopping_after

from orchestrator.cli.main import cli
from orchestrator.views.models.tasks import overview
from orchestrator.views.run.story import RunStory
from state.errors import JournalError, UsageError
from state.inbox import Word, WordKind, leave, left_in, new_word
from state.journal import events as e
from state.journal.events.tasks import Stage
from state.journal.fold.fold import fold
from state.journal.store import JournalReader, is_active
from state.journal.view import RunView
from state.outcome import Outcome
from state.paths import StateFolder
from state.roles import Role

Resume = Callable[..., Done]
DROP = question("May I drop the table?", "yes", "no")
WOULD = answers(answer("May I drop the table?", "no", reversible=False, basis="judgement"))
PARK = {"settings": {"questions": "park"}, "verify": ("true",)}


def later(seconds: float) -> dict[str, Any]:
    """The model's answer comes after so many seconds."""
    return {"hang": "before-headers", "seconds": seconds}


@pytest.fixture
def sq(repository: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.chdir(repository)

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(cli, list(arguments))

    return run


def view_of(repository: Path) -> RunView | None:
    try:
        with JournalReader(StateFolder(repository / ".sq").find(None)) as journal:
            return fold(journal.read())
    except UsageError:
        return None


@contextmanager
def meanwhile(
    repository: Path, *acts: tuple[Callable[[RunView], bool], Callable[[], Result]]
) -> Iterator[list[Result]]:
    """Beside the run, do each act as soon as its condition holds."""
    results: list[Result] = []

    def do() -> None:
        deadline = time.monotonic() + 60
        for holds, act in acts:
            while time.monotonic() < deadline:
                view = view_of(repository)
                if view and holds(view):
                    results.append(act())
                    break
                time.sleep(0.05)

    beside = threading.Thread(target=do)
    beside.start()
    yield results
    beside.join()


def asked_once(view: RunView, role: Role, task: str = "") -> bool:
    return any(one.started.role is role and task in {"", one.started.task_id} for one in view.calls.values())


def prompts_of(done: Done, role: Role) -> list[str]:
    return [one.prompt for one in done.of(e.CallStarted) if one.role is role]


@pytest.mark.late
def test_a_word_is_in_the_next_prompt_of_each_conversation_once_and_a_claim_waits_for_it(
    rehearse: Rehearse, repository: Path, sq: Callable[..., Result]
) -> None:
    slow = {**writes("notes.txt", "A line.\n"), "misbehave": later(2)}
    callers = whole_run(worker=[slow, completes(), completes()])
    speak = (lambda view: asked_once(view, Role.WORKER), lambda: sq("say", "notes", "Use short lines."))
    with meanwhile(repository, speak) as results:
        done = rehearse(callers, verify=("true",))
    [result] = results
    assert result.exit_code == 0, result.output
    assert "task notes" in result.output
    [said] = done.of(e.WordSaid)
    assert (said.text, said.task_id) == ("Use short lines.", "notes")
    assert "(sq say)" in said.by
    first, second = prompts_of(done, Role.WORKER)
    assert "Use short lines." not in first
    assert second.count("Use short lines.") == 1
    assert [prompt.count("Use short lines.") for prompt in prompts_of(done, Role.REVIEWER)] == [1]
    assert "says to notes" in done.output
    assert left_in(done.folder) == []


@pytest.mark.late
def test_the_final_review_reads_a_word_to_one_task_too(
    rehearse: Rehearse, repository: Path, sq: Callable[..., Result]
) -> None:
    slow = {**writes("notes.txt", "A line.\n"), "misbehave": later(2)}
    callers = {
        "planner/analysis/1": [analyzes()],
        "planner/plan/1": [plans("notes", "other")],
        **worker("notes", 1, slow, completes(), completes()),
        **worker("other", 1, writes("other.txt", "Another line.\n"), completes()),
        "reviewer/*": [passes()],
    }
    speak = (lambda view: asked_once(view, Role.WORKER), lambda: sq("say", "notes", "Use short lines."))
    with meanwhile(repository, speak):
        done = rehearse(callers, verify=("true",))
    about = {
        (one.role, one.task_id)
        for one in done.of(e.CallStarted)
        if "Use short lines." in one.prompt and one.role is Role.REVIEWER
    }
    assert about == {(Role.REVIEWER, "notes"), (Role.REVIEWER, "")}
    final = next(one for one in done.of(e.CallStarted) if one.role is Role.REVIEWER and not one.task_id)
    assert "About the task notes: Use short lines." in final.prompt


def test_a_pause_holds_the_next_exchange_and_shows_until_the_run_continues(
    rehearse: Rehearse, repository: Path, sq: Callable[..., Result]
) -> None:
    callers = whole_run(planner=[{**plans("notes"), "misbehave": later(1)}])
    seen: list[int] = []
    shown: list[str] = []

    def go_on() -> Result:
        time.sleep(1.5)
        view = view_of(repository)
        assert view
        seen.append(sum(1 for one in view.calls.values() if one.started.role is not Role.PLANNER))
        status = sq("status", StateFolder(repository / ".sq").find(None).name)
        shown.append(status.output)
        return sq("continue")

    with meanwhile(
        repository,
        (lambda view: asked_once(view, Role.PLANNER), lambda: sq("pause")),
        (lambda view: view.context.people.paused is not None, go_on),
    ) as results:
        done = rehearse(callers, verify=("true",))
    assert [one.exit_code for one in results] == [0, 0]
    assert seen == [0]
    assert "paused by" in shown[0]
    paused, continued = (
        next(one for one in done.stored if isinstance(one.event, kind))
        for kind in (e.RunPaused, e.RunContinued)
    )
    between = [one for one in done.stored if paused.seq < one.seq < continued.seq]
    assert not any(isinstance(one.event, e.CallStarted) for one in between)
    assert "pauses the run" in done.output


def parks(**more: Any) -> dict[str, Any]:
    """Two tasks: `risky` asks what only a person may answer, `calm` takes its time."""
    return {
        "planner/analysis/1": [analyzes()],
        "planner/plan/1": [plans("risky", "calm")],
        **worker("risky", 1, asks(DROP, then="I wait."), writes("risky.txt", "1\n"), completes()),
        **worker("calm", 1, writes("calm.txt", "1\n"), completes()),
        "developer/risky/1": [WOULD],
        "reviewer/*": [passes()],
        **more,
    }


@pytest.mark.late
def test_an_answer_goes_into_the_same_session_while_other_tasks_go_on(
    rehearse: Rehearse, repository: Path, sq: Callable[..., Result]
) -> None:
    slow = {**writes("calm.txt", "1\n"), "misbehave": later(4)}
    callers = parks(**worker("calm", 1, slow, completes()))
    speak = (lambda view: bool(view.waiting_questions), lambda: sq("answer", "q1", "yes"))
    with meanwhile(repository, speak) as results:
        done = rehearse(callers, **PARK)
    assert [one.exit_code for one in results] == [0], results[0].output
    [given] = done.of(e.PersonAnswered)
    assert given.answer.labels == ("yes",)
    calls = [one for one in done.of(e.CallStarted) if one.task_id == "risky" and one.role is Role.WORKER]
    assert len(calls) == 2
    assert "the person's answer" in calls[1].prompt
    assert "yes" in calls[1].prompt
    assert {done.view.calls[one.call_id].session_id for one in calls} == {calls[0].session_id}
    assert done.of(e.CallResumed) == []
    assert "answers the parked question" in done.output


LOCK = question("May I lock the file?", "yes", "no")
WOULD_LOCK = answers(answer("May I lock the file?", "no", reversible=False, basis="judgement"))


def told(done: Done, words: str) -> list[str]:
    """The prompts of the Workers that hold these words, with those that resumed an exchange."""
    workers = [one.call_id for one in done.of(e.CallStarted) if one.role is Role.WORKER]
    sent = [one.event for one in done.stored if isinstance(one.event, e.CallStarted | e.CallResumed)]
    return [one.prompt for one in sent if one.call_id in workers and words in one.prompt]


def worker_prompts_after(done: Done, before: Done) -> list[str]:
    """The prompts of the Workers in the newest process of a run, in order."""
    return told(Done(done.outcome, done.folder, done.stored, ""), "")[len(told(before, "")) :]


def test_the_first_prompt_of_a_resumed_session_holds_the_answer_and_the_words_once(
    rehearse: Rehearse, resume: Resume, sq: Callable[..., Result]
) -> None:
    lasting = {**asks(DROP, then="I wait."), "misbehave": later(0.2)}
    callers = parks(
        **{
            "planner/plan/1": [plans("risky")],
            **worker(
                "risky",
                1,
                lasting,
                asks(LOCK, then="I wait."),
                writes("risky.txt", "1\n"),
                completes(),
                completes(),
            ),
            "developer/risky/1": [WOULD, WOULD_LOCK],
        }
    )
    parked = rehearse(callers, **PARK, ends=None)
    assert parked.outcome.exit_code == 3
    assert sq("answer", "yes, drop it at night").exit_code == 0
    assert sq("say", "risky", "Be brief.").exit_code == 0
    again = resume(parked, ends=None)  # the Worker asks something else, which is parked too
    assert again.outcome.exit_code == 3, again.output
    first = worker_prompts_after(again, parked)[0]
    assert (first.count("yes, drop it at night"), first.count("Be brief.")) == (1, 1), first
    assert [*again.view.waiting_questions] == ["q2"]

    assert sq("answer", "q2", "lock it softly").exit_code == 0
    assert sq("say", "risky", "Be kind.").exit_code == 0
    last = resume(again)
    first = worker_prompts_after(last, again)[0]
    assert (first.count("lock it softly"), first.count("Be kind.")) == (1, 1), first
    for words in ("yes, drop it at night", "Be brief.", "lock it softly", "Be kind."):
        assert len(told(last, words)) == 1, words
    assert not any("A word first" in prompt for prompt in prompts_of(last, Role.WORKER))


@pytest.mark.late
def test_an_answer_that_was_not_sent_before_a_kill_is_sent_by_the_next_process(
    rehearse: Rehearse, resume: Resume, sq: Callable[..., Result]
) -> None:
    callers = parks(**{"planner/plan/1": [plans("risky")]})
    with pytest.raises(JournalError):
        rehearse(callers, **PARK, open_journal=stopping_after(e.QuestionsParked))
    folder = StateFolder(Path.cwd() / ".sq").find(None)
    assert sq("answer", "yes, drop it at night").exit_code == 0
    killed = Done(Outcome.FAILED, folder, [], "")
    with pytest.raises(JournalError):
        resume(killed, open_journal=stopping_after(e.CallResumed))
    last = resume(killed)
    assert [one.prompt.count("yes, drop it at night") for one in last.of(e.CallResumed)] == [1, 1]
    assert len(told(last, "yes, drop it at night")) == 2


@pytest.mark.late
def test_the_newest_answer_to_a_stopped_run_counts_and_status_says_that_it_waits(
    rehearse: Rehearse, resume: Resume, sq: Callable[..., Result]
) -> None:
    done = rehearse(parks(), **PARK, ends=Outcome.STUCK)
    name = done.folder.name
    cause = f'waits for a person\'s answer: May I drop the table? [1 yes / 2 no]. Answer q1: sq answer {name} q1 "…"'
    assert f"{cause}. Then go on with: sq resume {name}" in done.output
    assert done.view.ended.cause.endswith(f"sq resume {name}")
    assert f'Answer it: sq answer {name} q1 "…"' in sq("status", name).output
    first = sq("answer", "1").output
    assert f"q1 of run {name} is answered: yes. Nobody works on the run now" in first
    assert f"`sq resume {name}` uses it" in first
    assert "replaces" not in first
    assert "replaces the answer before" in sq("answer", "no").output
    status = sq("status", name).output
    assert f"An answer waits for: sq resume {name}" in status
    assert "Answer it" not in status
    last = resume(done)
    assert [one.answer.labels for one in last.of(e.PersonAnswered)] == [("no",)]
    for word in (("say", "Be brief."), ("say", "risky", "Be brief."), ("pause",), ("continue",)):
        assert "it is complete, so nothing goes on in it" in str(sq(*word).exception)
    again = sq("answer", "q1", "yes")
    assert "q1 is answered already, and the run has taken the answer: no" in str(again.exception)
    [refused] = last.of(e.WordRefused)
    assert (refused.text, refused.reason) == ("1", "a newer answer to q1 replaces it")


@pytest.mark.late
@pytest.mark.parametrize("named", [("notes",), ()])
def test_a_word_that_comes_during_the_review_is_for_the_final_review(
    rehearse: Rehearse, repository: Path, sq: Callable[..., Result], named: tuple[str, ...]
) -> None:
    callers = whole_run(**{"reviewer/notes/*": [{**passes(), "misbehave": later(2)}]})
    speak = (lambda view: asked_once(view, Role.REVIEWER), lambda: sq("say", *named, "Use short lines."))
    with meanwhile(repository, speak) as results:
        done = rehearse(callers, verify=("true",))
    assert [one.exit_code for one in results] == [0]
    assert ("only if it is sent back" in results[0].output) is bool(named)
    reviews = [one for one in done.of(e.CallStarted) if one.role is Role.REVIEWER]
    assert [(one.task_id, one.prompt.count("Use short lines.")) for one in reviews] == [("notes", 0), ("", 1)]
    assert done.view.unheard_words == []
    assert "not heard" not in done.output


def test_a_word_that_nobody_reads_is_named_at_the_end_and_in_the_report(
    rehearse: Rehearse, repository: Path, sq: Callable[..., Result]
) -> None:
    stuck = {**signals("task_stuck", reason="There is no pen."), "misbehave": later(2)}
    callers = whole_run(worker=[stuck])
    speak = (lambda view: asked_once(view, Role.WORKER), lambda: sq("say", "notes", "Use short lines."))
    with meanwhile(repository, speak):
        done = rehearse(callers, verify=("true",), ends=Outcome.STUCK)
    for shown in (done.output, sq("status", done.folder.name).output):
        assert "not heard: no agent has read what" in shown
        assert "Use short lines." in shown
    assert "no agent has read what" in sq("report", "--format", "md").output


@pytest.mark.late
def test_with_one_place_a_parked_task_keeps_no_other_waiting(
    rehearse: Rehearse, resume: Resume, repository: Path, sq: Callable[..., Result]
) -> None:
    done = rehearse(
        parks(), **{**PARK, "settings": {"questions": "park", "max_parallel": "1"}}, ends=Outcome.STUCK
    )
    assert done.view.tasks["calm"].stage is Stage.MERGED
    assert done.view.tasks["risky"].stage is Stage.BUILDING
    assert f'sq answer {done.folder.name} q1 "…"' in done.view.ended.cause
    assert f"sq resume {done.folder.name}" in done.view.ended.cause

    same = resume(done, ends=Outcome.STUCK)  # without an answer it ends the same, and nothing is asked
    assert len(same.of(e.CallStarted)) == len(done.of(e.CallStarted))

    result = sq("answer", done.folder.name, "1")
    assert "sq resume" in result.output
    last = resume(done)
    assert last.of(e.PersonAnswered)[0].answer.labels == ("yes",)
    assert {
        one.session_id for one in last.of(e.CallStarted) if one.task_id == "risky" and one.role is Role.WORKER
    } == {next(one.session_id for one in done.of(e.CallStarted) if one.task_id == "risky")}
    assert sq("decisions").output.count("(a person)") == 1
    with JournalReader(last.folder) as journal:
        story = RunStory()
        story.add_all(journal.read())
    shown = overview(story, last.folder.name, story.view.clock.last_at, active=False)
    assert (shown.answered, shown.yours, shown.parked) == (0, 1, 0)


@pytest.mark.late
def test_in_the_checkout_a_parked_task_keeps_its_place_and_the_run_ends_for_its_answer(
    rehearse: Rehearse, resume: Resume, repository: Path, sq: Callable[..., Result]
) -> None:
    done = rehearse(
        parks(), **{**PARK, "settings": {"questions": "park", "worktrees": "false"}}, ends=Outcome.STUCK
    )
    assert done.view.tasks["risky"].stage is Stage.BUILDING
    assert sq("answer", "no").exit_code == 0
    assert resume(done).outcome is Outcome.COMPLETE
    assert (repository / "risky.txt").exists()
    assert (repository / "calm.txt").exists()


def test_a_question_that_nobody_could_answer_is_parked_too(rehearse: Rehearse) -> None:
    wrong = answers(answer("Another question?", "maybe"))
    done = rehearse(parks(**{"developer/risky/1": [wrong, wrong, wrong]}), **PARK, ends=Outcome.STUCK)
    [parked] = done.of(e.QuestionsParked)
    assert (parked.question, parked.answers) == (DROP["question"], ())
    assert [*done.view.waiting_questions] == ["q1"]


def test_what_the_run_can_do_nothing_with_is_refused_and_says_what_fits(
    rehearse: Rehearse, sq: Callable[..., Result]
) -> None:
    done = rehearse(parks(), **PARK, ends=Outcome.STUCK)
    for arguments, found in (
        (("say", "nobody", "Hello"), "neither a run nor a task"),
        (("say", "calm", "Hello"), "is merged"),
        (("say", ""), "no words"),
        (
            ("answer", "q7", "yes"),
            "no question q7 waits for an answer. These wait: q1: May I drop the table?",
        ),
        (("answer", ""), "needs words"),
        (("answer", "q1"), "the words are missing"),
        (("answer", done.folder.name), "the words are missing"),
        (("answer", "q7"), "q7 is the name of a question"),
        (("answer", "q1", "q2"), "q2 is the name of a question"),
        (("answer", "q1", "q1", "q2"), "one run and one question"),
        (("answer", "q1", "9"), "9 is no option of the question. The options are: 1 yes, 2 no"),
        (("answer", "0"), "0 is no option"),
        (("answer", "b"), "b is no option"),
        (("answer", "1,2"), "one may be chosen"),
        (("continue",), "not paused"),
        (("say", "a", "b", "c", "d"), "4 arguments"),
    ):
        result = sq(*arguments)
        assert isinstance(result.exception, UsageError), result.output
        assert found in str(result.exception)
    assert left_in(done.folder) == []


def test_several_options_are_chosen_by_their_numbers_or_labels_and_one_that_is_none_is_refused(
    rehearse: Rehearse, resume: Resume, sq: Callable[..., Result]
) -> None:
    which = question("Which tables may I drop?", "old, unused", "users", "mail", several=True)
    would = answers(answer(which["question"], "users", reversible=False, basis="judgement"))
    asking = worker("risky", 1, asks(which, then="I wait."), writes("risky.txt", "1\n"), completes())
    done = rehearse(parks(**asking, **{"developer/risky/1": [would]}), **PARK, ends=Outcome.STUCK)
    refused = sq("answer", "1,4")
    assert "1,4 is no option" in str(refused.exception)
    assert "several may be chosen, such as 1,2" in str(refused.exception)
    assert sq("answer", "3, old, unused").exit_code == 0
    last = resume(done)
    [ask] = last.view.asks.values()
    given = ask.given[which["question"]]
    assert (given.labels, given.free_text, given.beside_options) == (("mail", "old, unused"), "", False)
    assert any("mail, old, unused" in prompt for prompt in prompts_of(last, Role.WORKER))
    assert "free text" not in "".join(prompts_of(last, Role.WORKER))


def test_a_word_that_was_recorded_before_a_kill_is_not_taken_again_and_one_that_fits_no_more_is_recorded(
    rehearse: Rehearse, resume: Resume
) -> None:
    done = rehearse(parks(), **PARK, ends=Outcome.STUCK)
    word = new_word(WordKind.SAY, "ann@host (test)", "Be brief.")
    leave(done.folder, word)
    leave(done.folder, new_word(WordKind.CONTINUE, "ann@host (test)"))
    again = resume(done, ends=Outcome.STUCK)
    assert [one.text for one in again.of(e.WordSaid)] == ["Be brief."]
    assert [one.reason for one in again.of(e.WordRefused)] == ["the run is not paused"]
    leave(done.folder, word)  # its file outlived the process that had recorded it
    last = resume(done, ends=Outcome.STUCK)
    assert len(last.of(e.WordSaid)) == 1
    assert left_in(done.folder) == []


@pytest.mark.late
@pytest.mark.parametrize(
    "kind", [e.QuestionsParked, e.WordSaid, e.RunPaused, e.RunContinued, e.PersonAnswered]
)
def test_a_run_that_is_killed_at_a_word_ends_as_without_the_kill_and_hears_none_twice(
    rehearse: Rehearse, resume: Resume, repository: Path, sq: Callable[..., Result], kind: type
) -> None:
    slow = {**writes("calm.txt", "1\n"), "misbehave": later(3)}
    callers = parks(**worker("calm", 1, slow, completes()))

    def once(holds: Callable[[RunView], bool]) -> Callable[[RunView], bool]:
        """What is said when this holds, or when nobody works on the run any more."""
        return lambda view: holds(view) or not is_active(newest(repository))

    acts = (
        (once(lambda view: bool(view.waiting_questions)), lambda: sq("say", "risky", "Be brief.")),
        (once(lambda view: bool(view.context.people.said)), lambda: sq("pause")),
        (once(lambda view: view.context.people.paused is not None), lambda: sq("continue")),
        (once(lambda view: len(view.context.people.taken) > 2), lambda: sq("answer", "q1", "yes")),
    )
    with meanwhile(repository, *acts) as results, pytest.raises(JournalError):
        rehearse(callers, **PARK, open_journal=stopping_after(kind))
    assert [one.exit_code for one in results] == [0] * 4, [one.output for one in results]
    done = resume(Done(Outcome.FAILED, newest(repository), [], ""))
    for heard in (e.QuestionsParked, e.WordSaid, e.RunPaused, e.RunContinued, e.PersonAnswered):
        assert len(done.of(heard)) == 1, heard
    assert done.of(e.WordRefused) == []
    told = [one for one in done.of(e.CallStarted) if "Be brief." in one.prompt]
    assert len({one.session_id for one in told}) == len(told) > 0
    assert left_in(done.folder) == []


def test_a_file_that_is_no_word_is_set_aside(tmp_path: Path) -> None:
    leave(tmp_path, new_word(WordKind.PAUSE, "ann"))
    (tmp_path / "inbox" / "0.json").write_text("{")
    assert [one.kind for one in left_in(tmp_path)] == [WordKind.PAUSE]
    assert (tmp_path / "inbox" / "0.unreadable").exists()
    assert isinstance(left_in(tmp_path)[0], Word)


def test_words_reach_a_run_of_another_state_folder(tmp_path: Path, sq: Callable[..., Result]) -> None:
    state = tmp_path / "elsewhere"
    write(state / "runs" / RUN_ID, twelve_tasks(tmp_path / "made"))
    where = ("--state-dir", str(state))
    for arguments in (("say", "Be brief."), ("pause",), ("continue",)):
        result = sq(*arguments, *where)
        assert result.exit_code == 0, result.output
        assert "nobody works on the run now" in result.output
    assert [one.kind for one in left_in(state / "runs" / RUN_ID)] == ["say", "pause", "continue"]
    assert RUN_ID in str(sq("answer", "q9", "yes", *where).exception)


@pytest.mark.late
def test_the_report_says_who_said_what(rehearse: Rehearse, sq: Callable[..., Result], resume: Resume) -> None:
    done = rehearse(parks(), **PARK, ends=Outcome.STUCK)
    assert sq("answer", "keep it as it is").exit_code == 0
    assert resume(done).outcome is Outcome.COMPLETE
    report = sq("report", "--format", "md").output
    assert "(sq answer) answered" in report
    assert "keep it as it is" in report


@pytest.mark.late
def test_an_answer_of_a_person_is_nowhere_counted_as_decided_without_them(
    rehearse: Rehearse, sq: Callable[..., Result], resume: Resume
) -> None:
    done = rehearse(parks(), **PARK, ends=Outcome.STUCK)
    assert "Decided without you" in sq("report", "--format", "md").output
    listed, status = sq("status").output, sq("status", done.folder.name).output
    assert "stuck, waits for you (1)" in listed
    assert any(
        line.split()[0] == "risky" and "waits for you" in line for line in status.splitlines() if line.strip()
    )
    assert "question unanswered" not in done.output
    assert sq("answer", "2").exit_code == 0
    last = resume(done)
    decided = f"decided by a person:\n    {DROP['question']} → no\n"
    assert decided in last.output
    assert "answered from the spec" not in last.output
    without, _, yours = sq("report", "--format", "md").output.partition("Decided by you")
    assert "No question was decided without you in this run." in without
    assert DROP["question"] in yours.partition("##")[0]
    page = (done.folder / "report.html").read_text()
    assert "Decided without you (0)" in page
    assert "decision without you" not in page
    assert page.index("Decided by you") < page.index("a person says")
