"""`sq watch`: each key, on a run of twelve tasks of which one is stuck, one failed and one is parked."""

import re
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest
from language.hostile_texts import hostile_texts
from language.large_runs import RUN_ID, TITLES, twelve_tasks, write
from language.steering import MARKUP, steering_in
from language.watched import showing, watching

from orchestrator.views.models.summary import RunState, RunSummary
from orchestrator.views.models.tasks import task_rows
from orchestrator.views.watch.app import RunsScreen
from orchestrator.views.watch.following import Following
from orchestrator.views.watch.panel import MOST_LINES
from orchestrator.views.watch.run_screen import RunScreen
from orchestrator.views.watch.tabs import stream
from state.inbox import left_in
from state.journal import events as e
from state.journal.store import Journal, journal_file
from state.outcome import Outcome
from state.records.calls import Message, MessageKind

NOW = twelve_tasks()[-1].at


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run of twelve tasks with the repository of its commits."""
    folder = tmp_path_factory.mktemp("twelve")
    return write(folder / RUN_ID, twelve_tasks(folder / "repository"))


@pytest.fixture
def folder(made, tmp_path):
    """A copy that a test may change."""
    return shutil.copytree(made, tmp_path / RUN_ID)


def tasks_in(text):
    """The tasks of the left half, in their order, without headings."""
    left = [line.split("│")[0] for line in text.splitlines() if "│" in line]
    return [name for line in left for name in TITLES if re.search(rf"^[?✗●○✓] .{{9}} {name}\b", line)]


async def test_the_tasks_stand_in_groups_those_that_need_a_person_first(made):
    async with watching(made) as watched:
        assert tasks_in(watched.text) == [
            "accounts", "mail", "export", "cart", "invoice", "report", "search", "newsletter",
            "counter", "prices", "discounts", "rounding",
        ]  # fmt: skip
        for sign_and_word in (
            "? needs you accounts",
            "✗ stuck",
            "✗ failed",
            "● in review cart",
            "○ waiting",
            "✓ merged",
        ):
            assert sign_and_word in watched.text
        assert "waiting 3" in watched.text
        head = watched.text.splitlines()[0]
        assert "shop.md" in head
        assert "4/12 merged" in head
        assert "$3.81+ of $10.00 ($0.60 held)" in head
        assert "NEEDS YOU accounts: a question is parked: Delete the column" in watched.text


async def test_a_run_that_nobody_works_on_any_more_says_how_to_go_on(made):
    async with watching(made, options=" --state-dir /x") as watched:
        assert "✗ killed" in watched.text
        assert f"no process works on it: sq resume {RUN_ID} --state-dir /x" in watched.text


async def test_a_run_that_is_worked_on_is_active_until_its_process_is_gone(folder):
    async with watching(folder) as watched:
        with Journal(folder):
            await watched.until(lambda text: "● building" in text.splitlines()[0])
        await watched.until(lambda text: "✗ killed" in text.splitlines()[0])


@pytest.mark.parametrize(("down", "up"), [("j", "k"), ("down", "up")])
async def test_tasks_are_chosen_and_the_right_half_shows_the_chosen_one(made, down, up):
    async with watching(made) as watched:
        assert "cart · A cart of articles" in watched.text
        assert "invoice · Invoices that show the discount" in await watched.press(down)
        assert "cart · A cart of articles" in await watched.press(up)
        assert "│ the run" in await watched.press("g")
        assert "│ rounding · Money is rounded half to even" in await watched.press("G")


async def test_one_to_six_show_the_task_from_every_side(made):
    async with watching(made) as watched:
        assert "Read  shop/cart.py" in watched.text
        text = await watched.press("2")
        assert "+def cart_1(value: int) -> int:" in text
        text = await watched.press("3")
        assert "✓ sq ran `python -m pytest -q`: passed, 14 tests" in text
        assert "— ci_green (not checked)" in text
        assert "✗ docs_updated (judge)" in text
        assert "no review yet" in await watched.press("4")
        assert "You are the reviewer of attempt 1." in await watched.press("5")
        assert "reviewer (sonnet)" in await watched.press("6")
        assert "Read  shop/cart.py" in await watched.press("1")
        await watched.press("G", "up", "up")
        text = await watched.press("4")
        assert "prices · Prices as decimals" in text
        assert "✗ the review fails with 2 issue(s)" in text
        assert "✓ fixed  shop/prices.py:7" in text
        assert "— won't fix" in text


async def test_why_names_the_chain_of_reasons_with_events_that_say_so(made):
    async with watching(made) as watched:
        await watched.press("j", "j")
        text = await watched.press("w")
        assert "why: report" in text
        assert re.search(r"report needs cart, which is in review  #\d+", text)
        assert re.search(r"└ report needs invoice, which is building  #\d+", text)
        await watched.press("escape", "j", "w")
        assert "search waits for a place (2 of 2 taken: cart, invoice)" in watched.text
        await watched.press("escape", "j", "w")
        assert "newsletter needs mail, which is stuck" in watched.text
        assert "└ mail is stuck: completion was refused 3 times" in watched.text
        assert "└ its last claim was refused, 3 times in a row" in watched.text


async def test_decisions_timeline_and_keys_lie_over_the_screen_until_they_are_closed(made):
    async with watching(made) as watched:
        text = await watched.press("d")
        assert "left to a person" in text
        assert "Which rounding does the spec mean?" in text
        await watched.press("escape")
        text = await watched.press("t")
        assert "27 min 57 s" in text
        assert re.search(r"^ counter +░?█+", text, re.MULTILINE)
        assert "█ builds" in text
        await watched.press("q")
        text = await watched.press("question_mark")
        assert "why the chosen task does not go on" in text
        assert "cart · A cart of articles" in await watched.press("question_mark")


async def test_enter_shows_the_task_alone_and_escape_the_tasks_again(made):
    async with watching(made, size=(80, 24)) as watched:
        assert "│" in watched.text
        assert "│" not in await watched.press("enter")
        assert "▸ cart · A cart of articles" in watched.text
        assert "│" in await watched.press("escape")


async def test_a_narrow_terminal_shows_one_half_at_a_time(made):
    async with watching(made, size=(40, 20)) as watched:
        assert "needs you" in watched.text
        assert "A cart of articles" not in watched.text
        assert "A cart of articles" in await watched.press("enter")
        assert all(len(line) <= 40 for line in watched.text.splitlines())


async def test_a_word_is_found_below_and_above_and_one_that_is_not_there_is_said(made):
    async with watching(made) as watched:
        await watched.press("slash", *"uv.lock", "enter")
        assert watched.row("uv sync (uv.lock)")
        panel = watched.app.screen.query_one("#pane")
        assert panel.word == "uv.lock"
        await watched.press("slash", *"nowhere", "enter")
        assert "not found in the lines at the right: nowhere" in watched.text
        await watched.press("slash", "x", "escape")
        assert panel.word == "nowhere"


async def test_the_run_is_shown_as_it_was_at_any_event_and_then_as_it_is(made):
    last = len(twelve_tasks())
    async with watching(made, at=30) as watched:
        assert f"event 30 of {last}" in watched.text
        assert "0/12 merged" in watched.text
        assert f"event 31 of {last}" in await watched.press("right")
        assert f"event 29 of {last}" in await watched.press("left", "left")
        assert f"event 30 of {last}" in await watched.press("full_stop")
        assert f"event 29 of {last}" in await watched.press("comma")
        text = await watched.press("greater_than_sign")
        assert int(re.search(r"event (\d+) of", text)[1]) > 29
        assert "event" not in (await watched.press("escape")).splitlines()[0]
        assert "4/12 merged" in watched.text
        assert f"event {last - 1} of {last}" in await watched.press("left")


@pytest.mark.parametrize("seq", [1, 5, 60, 200, 10_000])
def test_a_moment_of_the_past_is_the_run_that_was_read_until_then(tmp_path, seq):
    events = twelve_tasks()
    whole = Following(write(tmp_path / "whole", events))
    part = Following(write(tmp_path / "part", [one for one in events if one.seq <= seq]))
    with closing(whole), closing(part):
        whole.load()
        part.load()
        past = whole.at(seq)
        assert past.told == part.newest.told
        assert task_rows(past.story, NOW) == task_rows(part.newest.story, NOW)
        assert past.story.view.cost_usd == part.newest.story.view.cost_usd
        for task_id in ("", *past.story.view.tasks):
            assert stream(whole.messages, past, task_id) == stream(part.messages, part.newest, task_id)


async def test_new_events_are_followed_unless_somebody_scrolled_up(folder):
    async with watching(folder, size=(100, 24)) as watched:
        with Journal(folder) as journal:
            say(journal, "first words")
            await watched.until(lambda text: "reviewer says: first words" in text)
            await watched.press("tab", "tab", "k", "k", "k")
            for number in range(7):
                say(journal, f"further words {number}")
            text = await watched.until(lambda text: "▼ 7 new" in text)
            assert "further words 6" not in text
            text = await watched.press("G")
            assert "further words 6" in text
            assert "▼" not in text
            say(journal, "last words")
            await watched.until(lambda text: "last words" in text)


def say(journal, text, kind=MessageKind.TEXT):
    """A message of the call that reviews `cart`."""
    calls = [one.event.call_id for one in journal.read() if isinstance(one.event, e.CallStarted)]
    journal.append(e.MessageReceived(call_id=calls[-2], message=Message(kind=kind, text=text)))


async def test_a_long_stream_keeps_its_newest_lines_and_cuts_long_outputs(folder):
    async with watching(folder) as watched:
        with Journal(folder) as journal:
            for number in range(30):
                say(journal, f"{number}\n" * 200, MessageKind.TOOL_RESULT)
            await watched.until(lambda text: "… 194 more lines" in text)
            calls = [one.event.call_id for one in journal.read() if isinstance(one.event, e.CallStarted)]
            many = [
                e.MessageReceived(
                    call_id=calls[-2], message=Message(kind=MessageKind.TEXT, text=f"m{number}")
                )
                for number in range(MOST_LINES + 500)
            ]
            journal.append(*many)
            await watched.until(lambda text: f"m{MOST_LINES + 499}" in text)
        assert len(watched.app.screen.query_one("#pane").lines) == MOST_LINES


async def test_a_journal_that_is_removed_or_damaged_is_said_and_the_run_stays_on_the_screen(folder):
    async with watching(folder) as watched:
        shutil.rmtree(folder)
        text = await watched.until(lambda text: "the journal of this run was removed" in text)
        assert "4/12 merged" in text
        assert "invoice · Invoices that show" in await watched.press("j")


async def test_a_journal_that_is_damaged_is_shown_up_to_its_damage(tmp_path):
    damaged = write(tmp_path / RUN_ID, twelve_tasks())
    with sqlite3.connect(journal_file(damaged)) as db:
        db.execute("UPDATE events SET body = '{' WHERE seq = 100")
    db.close()
    async with watching(damaged) as watched:
        assert "✗ the journal cannot be read further: a stored" in watched.text
        assert "Shown is the run until event 99" in " ".join(watched.text.split())
        assert "counter" in watched.text


async def test_a_run_that_has_just_begun_shows_its_planner(tmp_path):
    begun = write(tmp_path / RUN_ID, twelve_tasks()[:4])
    async with watching(begun) as watched:
        assert "the run" in watched.text
        assert "asking the planner" in watched.text


async def test_commits_that_git_has_not_are_said_in_their_place(tmp_path):
    async with watching(write(tmp_path / RUN_ID, twelve_tasks())) as watched:
        assert "git has no such objects" in await watched.press("2")


async def test_the_list_of_runs_opens_one_and_escape_comes_back(made):
    runs = [
        RunSummary(run_id=RUN_ID, state=RunState.KILLED, spec_name="shop.md", tasks_merged=4, tasks_total=12),
        RunSummary(run_id="20260101-000000-aaaa", state=RunState.ENDED, outcome=Outcome.COMPLETE),
        RunSummary(run_id="20260101-000000-bbbb", state=RunState.UNREADABLE, problem="x\x1b[2J"),
    ]
    following = Following(made)
    following.load()
    opened = []

    def first(app):
        def show(run_id):
            opened.append(run_id)
            app.push_screen(RunScreen(following))

        return RunsScreen("/somewhere", lambda: runs, show)

    async with showing(first) as watched:
        text = await watched.until(lambda text: "3 runs, 0 active" in text)
        assert re.search(rf"✗ killed +{RUN_ID} +4/12", text)
        assert "✓ complete" in text
        assert r"x\x1b[2J" in text
        await watched.press("j", "k", "enter")
        assert opened == [RUN_ID]
        assert "cart · A cart of articles" in watched.text
        assert "3 runs, 0 active" in await watched.press("escape")
    following.close()


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_hostile_words_of_agents_steer_nothing_on_any_side(tmp_path, size):
    """All texts at once in titles, outputs, reasons, prompts, findings. The rows are tried one by one elsewhere."""
    texts = iter((*MARKUP, *hostile_texts(400)))
    events = [replace(one, event=hostile(one.event, texts)) for one in twelve_tasks()]
    async with watching(write(tmp_path / RUN_ID, events), size=size) as watched:
        seen = [await watched.press(*keys.split()) for keys in ("g", *"123456", "j", "j", "j 1", *"2345")]
        for key in "wdt":
            seen.append(await watched.press(key))
            await watched.press("escape")
        assert all(not steering_in(text) for text in seen)
        for strip in watched.app.screen._compositor.render_strips():
            assert all(not segment.control for segment in strip)
            assert all(
                not (segment.style and (segment.style.link or segment.style.meta.get("@click")))
                for segment in strip
            )


def hostile(event, texts):
    """An event with hostile words wherever a model may choose words."""
    match event:
        case e.MessageReceived():
            return replace(event, message=replace(event.message, text=next(texts, "x")))
        case e.PlanProposed() | e.PlanAccepted():
            return replace(event, tasks=tuple(replace(one, title=next(texts, "x")) for one in event.tasks))
        case e.CompletionRefused():
            return replace(event, feedback=next(texts, "x"))
        case e.GateDecided() | e.TaskStuck():
            return replace(event, reason=next(texts, "x"))
        case e.TaskFailed():
            return replace(event, cause=next(texts, "x"))
        case e.QuestionsParked():
            return replace(event, question=next(texts, "x"))
        case e.CallStarted():
            return replace(event, prompt=next(texts, "x"))
        case _:
            return event


async def test_without_colours_no_colour_is_written(made, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    async with watching(made, colours=False) as watched:
        for strip in watched.app.screen._compositor.render_strips():
            for segment in strip:
                colour = segment.style.color if segment.style else None
                assert colour is None or colour.is_default


async def test_a_run_without_an_event_yet_is_shown_and_then_followed(tmp_path):
    folder = write(tmp_path / RUN_ID, [])
    async with watching(folder) as watched:
        assert "killed before it began" in watched.text
        for keys in ("w", "d", "t", "left", "right", "2", "3", "4", "5", "6", "1"):
            await watched.press(keys)
            await watched.press("escape")
        events = twelve_tasks()
        with Journal(folder) as journal:
            journal.append(*(one.event for one in events))
            await watched.until(lambda text: "4/12 merged" in text and "● in review cart" in text)


async def test_a_run_that_is_resumed_is_followed_again(folder):
    async with watching(folder) as watched:
        assert "✗ killed" in watched.text
        with Journal(folder) as journal:
            journal.append(e.RunResumed())
            await watched.until(lambda text: "● baseline" in text.splitlines()[0])


def waiting_run(folder):
    """The run until its question is parked."""
    events = twelve_tasks()
    at = next(number for number, one in enumerate(events) if isinstance(one.event, e.QuestionsParked))
    return write(folder / RUN_ID, events[: at + 1])


@pytest.mark.parametrize("colours", [True, False])
@pytest.mark.parametrize("size", [(160, 50), (80, 24)])
async def test_an_answer_is_typed_below_the_question_and_its_options_while_the_run_stays_on_the_screen(
    tmp_path, size, colours
):
    folder = waiting_run(tmp_path)
    async with watching(folder, size=size, colours=colours) as watched:
        above = watched.text.splitlines()
        text = await watched.press("a")
        assert text.splitlines()[:10] == above[:10]
        *_, question, yes, no, how, line = text.splitlines()
        assert question.strip().startswith("q1, accounts: Delete the column")
        assert (yes.split(), no.split()) == (["1", "yes"], ["2", "no"])
        assert "Enter sends · Esc leaves" in how
        assert line.strip() == "answer q1: _"
        assert "answer q1: 9_" in await watched.press("9")
        text = await watched.press("enter")
        assert "9 is no option of the question" in text
        assert left_in(folder) == []
        await watched.press("a", "2", "enter")
        [word] = left_in(folder)
        assert (word.kind, word.about, word.text) == ("answer", "q1", "2")
        assert "answer: left for the run" in watched.text
        await watched.press("a", "1", "escape")
        assert len(left_in(folder)) == 1
        assert watched.text.splitlines()[:10] == above[:10]


@pytest.mark.late
@pytest.mark.parametrize("size", [(160, 50), (80, 24), (40, 12)])
async def test_a_word_is_typed_below_the_run_and_a_long_one_shows_its_end(folder, size):
    async with watching(folder, size=size) as watched:
        above = watched.text.splitlines()
        text = await watched.press("s")
        assert text.splitlines()[: size[1] // 2] == above[: size[1] // 2]
        assert "say to" in text.splitlines()[-1]
        text = await watched.press(*("word " * 40).replace(" ", "_"), "E", "N", "D")
        assert text.splitlines()[-1].endswith("END_")
        await watched.press("ctrl+u", *"short", "enter")
        [word] = left_in(folder)
        assert (word.kind, word.text) == ("say", "short")
        assert word.about in TITLES


async def test_without_a_question_that_waits_nothing_is_asked(tmp_path):
    async with watching(write(tmp_path / RUN_ID, twelve_tasks()[:4])) as watched:
        assert "no question waits for an answer" in await watched.press("a")
        assert "_" not in watched.text.splitlines()[-1]


async def test_p_pauses_the_run_and_then_lets_it_go_on(folder):
    async with watching(folder) as watched:
        assert "pause: left for the run" in await watched.press("p")
        assert [one.kind for one in left_in(folder)] == ["pause"]
        with Journal(folder) as journal:
            journal.append(e.RunPaused(word_id=left_in(folder)[0].word_id, by="ann@host (sq watch)"))
            paused = "pauses the run before"
            await watched.until(lambda text: paused in text)
        assert "continue: left for the run" in await watched.press("p")
        assert [one.kind for one in left_in(folder)] == ["pause", "continue"]
