"""Every prompt renders strictly, holds no hole, and tells an agent only about what it has."""

import re
from pathlib import Path

import pytest
from language.tables import rows, table

import prompts
from agents.access import KeyConnection
from agents.api_key import ApiKey
from agents.ask.api import ApiAsker
from agents.backend import Claude, Platform
from agents.process.containment import Containment
from agents.roles.developer import developer_ask, guidance_ask
from agents.roles.judge import JudgeFinding, Judgement
from agents.roles.reviewer import get_review_prompt, types_at
from agents.roles.worker import signal_in_text
from agents.session.permissions import SIGNAL_PREFIX
from agents.session.tools import PLAN_SIGNAL, SIGNALS
from orchestrator.checks.objecting import changed
from orchestrator.gates.power_steering.considerations import consideration_of, load_considerations
from orchestrator.run.review.findings import as_findings, fingerprint
from orchestrator.run.tasks.hand_over import AttemptStart, Before
from orchestrator.run.tasks.steps import PromptContext, build_prompt_with_feedback
from prompts import PromptError, render, variables_of
from state.journal.events import MergeBuilt
from state.records.calls import Message, MessageKind
from state.records.plan import Criterion, CriterionKind, Plan, Task, TestThatChanges
from state.records.questions import Answer, Question, QuestionOption
from state.records.reviews import Finding, FindingState, IssueType, ReviewIssue, TestChange, TestChangeKind
from state.records.spec_check import FaultKind, SpecFinding
from state.records.work import HandOver
from state.roles import ROLES, Role
from state.settings.presets import usual_settings
from state.settings.records import ReviewDepth

TASK = Task(
    id="counter",
    title="A counter module",
    description="Create counter.py.",
    acceptance_criteria=("increment() adds one",),
)
ISSUE = ReviewIssue(
    task_id="counter",
    file="src/index.ts",
    line=42,
    type=IssueType.OVER_ENGINEERING,
    description="Unnecessary wrapper",
    suggestion="Inline the code",
)
QUESTIONS = (
    Question(
        text="Which colours?", options=(QuestionOption(label="Red", description="warm"),), multi_select=True
    ),
    Question(text="Which name?", options=(QuestionOption(label="a"), QuestionOption(label="b"))),
    Question(text="Why?"),
)
ANSWER = Answer(question="Which name?", labels=("a",), reason="It is shorter.")
HISTORY = (
    Message(kind=MessageKind.TEXT, text="I look at it."),
    Message(kind=MessageKind.TOOL_CALL, tool="Bash", text='{"command": "ls"}'),
)
FINDING = Finding(id=fingerprint(ISSUE), issue=ISSUE)
DISPUTED = Finding(
    id="0a1b2c3d",
    issue=ISSUE,
    state=FindingState.DISPUTED,
    note="it has two callers, src/a.ts and src/b.ts",
)
NOTES = HandOver(
    done="The counter counts.",
    tests="- make test: failed with exit code 1",
    next_step="mend the last test",
    blockers=("no network",),
    notes="Do not touch the cache.",
    decisions=("Which name? → a",),
    ended="sent back by the review of attempt 1 with 1 issue(s)",
    attempt=1,
    since=("The user asked for another attempt.",),
)
(GONE,) = changed([TestChange(test="counter.py::test_y", kind=TestChangeKind.GONE, detail="E assert 1")])
# One value for each variable that any prompt takes; prompts are rendered with the ones they ask for.
FULL = {
    **table(__file__, "full"),
    "untouched": (FINDING.id,),
    "answers": [ANSWER],
    "consideration": consideration_of({"id": "mine", "question": "Is it?", "description": "So it is."}),
    "criteria": (
        Criterion(id="c-1", text="it counts", quote="Count.", task_ids=("counter",), spec_lines=(3, 3)),
        Criterion(id="c-2", text="it is small", kind=CriterionKind.CONSTRAINT),
    ),
    "announced": [
        *changed(
            [TestChange(test="counter.py::test_x", kind=TestChangeKind.FAILS, expected_by="- add() rounds")]
        )
    ],
    "changed_tests": [GONE],
    "let_through": [
        (
            "counter",
            GONE,
            "no reviewer ruled on it",
        )
    ],
    "united": [
        MergeBuilt(task_id="counter", commit="c0ffee", tree="f00d", onto="beef", united=("counter.py",))
    ],
    "tests_that_change": (TestThatChanges(test="counter.py", line="- add() rounds"),),
    "findings": [FINDING, DISPUTED],
    "contradictions": [
        SpecFinding(
            kind=FaultKind.CONTRADICTION,
            lines=(3, 4),
            question="Which length holds?",
            why="An example has 80.",
            options=("20", "80"),
            recommended="20",
            quote="20 characters\n80 characters",
        )
    ],
    "hand_over": NOTES,
    "history": HISTORY,
    "instructions": get_review_prompt("standard"),
    "merged": [TASK],
    "others": [Task(id="readme", title="Its readme", description="Write it.")],
    "plan": Plan(
        tasks=(TASK,),
        criteria=(
            Criterion(id="c-1", text="it counts", task_ids=("counter",), spec_lines=(1, 1)),
            Criterion(id="c-2", text="it is small", task_ids=("counter",)),
        ),
        tests_that_change=(
            TestThatChanges(test="counter.py", line="- add() rounds"),
            TestThatChanges(test="b"),
        ),
    ),
    "questions": QUESTIONS,
    "rejected": [ANSWER],
    "start": AttemptStart.FORMER,
    "task": TASK,
    "tasks": [TASK],
}
EMPTY = {
    **FULL,
    **table(__file__, "empty"),
    "consideration": consideration_of({"id": "mine", "question": "Is it?"}),
    "task": Task(id="counter", title="A counter module", description="Create counter.py."),
}
READERS = {
    Role.WORKER: (
        *("worker_system", "build", "continue", "refused", "answered", "guidance", "word_first"),
        *("plan_first", "plan_again", "implement", "checkpoint", "answered_meanwhile"),
    ),
    Role.PLANNER: ("planner_system", "analyze", "analyze_again", "plan", "plan_rejected"),
    Role.REVIEWER: (
        "reviewer_system",
        "review_depth",
        "review_task",
        "review_final",
        "review_criteria",
        "review_again",
        "review_changes",
        "review_checkpoint",
        "review_analysis",
        "review_plan",
    ),
    Role.DEVELOPER: ("developer_system", "developer_answer", "developer_guidance", "developer_contradiction"),
    Role.JUDGE: (
        *("judge_system", "judge_session", "judge_todos", "judge_philosophy"),
        *("judge_testing", "judge_workflow", "judge_generic", "judge_questions"),
    ),
    Role.RESOLVER: ("resolver_system", "resolve", "resolve_again"),
}
READ_BY_ANYBODY = (
    *("resumed", "begun_anew", "others_words", "not_run", "answers_hold"),
    *("instructions", "said", "context", "commands_changed"),
)


def rendered(name, values):
    return render(name, **{variable: values[variable] for variable in variables_of(name)})


every_prompt = pytest.mark.parametrize("name", prompts.names())
full_or_empty = pytest.mark.parametrize("values", [FULL, EMPTY], ids=["full", "empty"])


@full_or_empty
@every_prompt
def test_a_rendered_prompt_has_words_and_no_hole(name, values):
    text = rendered(name, values)
    assert len(text.split()) > 10
    assert not re.search(r"\{\{|\}\}|\{%|%\}|\{#", text)
    assert "None" not in text
    assert text == text.strip()


@full_or_empty
@every_prompt
def test_a_rendered_prompt_leaves_no_gap_of_empty_lines(name, values):
    always = {"problem": FULL["problem"]} if name == "review_again" else {}
    assert "\n\n\n\n" not in rendered(name, {**values, **always})


@pytest.mark.parametrize("name", [name for name in prompts.names() if "decisions" in variables_of(name)])
def test_whoever_reads_the_answers_of_a_run_knows_which_of_them_hold_over_the_spec(name):
    text = " ".join(rendered(name, FULL).split())
    assert "an answer of a person belong to the spec. They hold where its words say something else." in text
    assert "where one differs from the spec, the spec holds" in text


def test_a_word_of_the_user_asks_builders_to_follow_it_and_reviewers_to_look():
    text = " ".join(rendered("said", FULL).split())
    assert "If you build, follow it" in text
    assert "If you review, look whether the work follows it, whatever the builder says" in text


@every_prompt
def test_a_prompt_without_one_of_its_variables_is_an_error_that_names_it(name):
    for variable in variables_of(name):
        others = {each: FULL[each] for each in variables_of(name) - {variable}}
        with pytest.raises(PromptError, match=rf"{name} needs {variable}"):
            render(name, **others)


@every_prompt
def test_a_fact_that_a_prompt_does_not_use_is_an_error_that_names_it(name):
    values = {each: FULL[each] for each in variables_of(name)}
    with pytest.raises(PromptError, match=rf"{name} does not use loop_id"):
        render(name, **values, loop_id="l-1")


def test_a_field_that_a_record_does_not_have_is_an_error():
    with pytest.raises(PromptError, match="'id'"):
        render("build", **{**{each: FULL[each] for each in variables_of("build")}, "task": object()})


def test_a_prompt_that_is_not_there_is_an_error_that_names_it():
    with pytest.raises(PromptError, match="no prompt named farewell"):
        render("farewell")


def test_every_template_in_the_folder_is_a_prompt_with_a_known_reader():
    folder = Path(prompts.__file__).parent
    assert prompts.names() == sorted(file.name.removesuffix(".md.j2") for file in folder.glob("*.j2"))
    assert set(prompts.names()) == {*READ_BY_ANYBODY, *(name for names in READERS.values() for name in names)}


@pytest.mark.parametrize("text", ["{{ loopId }}", "{% raw %}", "{# note #}", '<b> & "quotes"', "a\\nb"])
def test_what_a_spec_says_arrives_as_it_was_written(text):
    prompt = build_prompt_with_feedback(TASK, [], 1, 10, f"# Spec\n\n{text}")
    assert text in prompt


# --- the words of the seed's prompt tests (002, tasks 2, 3 and 5) --------------------------------------


def build_prompt(issues=(), iteration=1, most=10):
    return build_prompt_with_feedback(TASK, issues, iteration, most)


@pytest.mark.parametrize("words", table(__file__, "words"))
def test_a_build_prompt_has_the_seeds_guidelines(words):
    assert any(word in build_prompt() for word in words)


def test_a_build_prompt_begins_with_what_never_changes_and_ends_with_the_iteration():
    prompt = build_prompt([ISSUE], iteration=3, most=7)
    places = [
        prompt.index(words)
        for words in ("## Quality guidelines", "ID: counter", "Previous Review Feedback", "## Iteration: 3/7")
    ]
    assert places == sorted(places)
    assert prompt.endswith("## Iteration: 3/7")


def test_a_build_prompt_names_the_task():
    prompt = build_prompt()
    for words in ("ID: counter", "Title: A counter module", "Create counter.py.", "- increment() adds one"):
        assert words in prompt


def test_a_retry_is_told_the_issues_of_its_task_and_of_no_other():
    other = ReviewIssue(task_id="t2", file="src/other.ts", description="Unhandled", suggestion="Catch it")
    prompt = build_prompt([ISSUE, other])
    assert "## Previous Review Feedback" in prompt
    assert "**src/index.ts:42** (over-engineering): Unnecessary wrapper" in prompt
    assert "Fix: Inline the code" in prompt
    assert "src/other.ts" not in prompt


def test_an_issue_about_a_whole_file_names_the_file_alone():
    whole = ReviewIssue(task_id="counter", file="a.py", description="unused", suggestion="remove it")
    assert "**a.py** (pattern-violation): unused" in build_prompt([whole])


def test_a_first_attempt_is_told_of_no_feedback_and_of_no_hand_over():
    for words in ("Previous Review Feedback", "Hand-over", "The state of the workspace"):
        assert words not in build_prompt()


def test_each_finding_has_the_id_by_which_it_can_be_disputed_and_what_the_reviewer_insisted_with():
    insisted = Before(findings=(Finding(id=fingerprint(ISSUE), issue=ISSUE, note="it has one caller"),))
    prompt = build_prompt_with_feedback(TASK, as_findings(ISSUE), 1, 10, before=insisted)
    assert f"[{fingerprint(ISSUE)}] **src/index.ts:42**" in prompt
    assert "insists: it has one caller" in prompt
    assert "`disputes`" in prompt


def after(**before):
    return build_prompt_with_feedback(TASK, as_findings(ISSUE), 1, 10, before=Before(notes=NOTES, **before))


def test_the_hand_over_comes_before_the_feedback_with_everything_that_was_left():
    prompt = after()
    order = ["## The whole spec", "## Hand-over from the attempt before", "## Previous Review Feedback"]
    places = [prompt.index(words) for words in order]
    assert places == sorted(places)
    for words in (NOTES.done, NOTES.tests, NOTES.next_step, NOTES.notes, NOTES.ended, *NOTES.decisions):
        assert words in prompt
    assert "no network" in prompt


def test_notes_that_are_empty_leave_no_heading():
    prompt = build_prompt_with_feedback(TASK, [], 1, 10, before=Before(notes=HandOver(done="Half of it.")))
    assert "**The work that it reports**\nHalf of it." in prompt
    assert "Its blockers" not in prompt
    assert "The workspace holds the work of the attempt before" in prompt


@pytest.mark.parametrize("start", sorted(set(AttemptStart) - {AttemptStart.FORMER}))
def test_a_workspace_that_holds_other_work_is_told_with_the_commit_of_the_former(start):
    prompt = after(start=start, commit="c0ffee")
    assert "The workspace holds the work of the attempt before" not in prompt
    assert "commit c0ffee" in prompt
    assert ("git show c0ffee" in prompt) is (start is AttemptStart.OVER)


def test_a_re_review_is_asked_about_what_changed_and_about_each_earlier_finding():
    text = rendered("review_changes", FULL)
    for words in (
        f"[{FINDING.id}] **src/index.ts:42**",
        "The builder says that it is wrong: it has two callers",
        "Do not look for new trifles",
        "## Changes since the last round",
        "A report that leaves one out is refused",
    ):
        assert words in text
    assert "need not repeat" not in text
    assert "This file has not changed since the last round" in text
    elsewhere = rendered("review_changes", {**FULL, "untouched": ()})
    assert "This file has not changed" not in elsewhere
    moved = rendered("review_changes", {**FULL, "changed": ""})
    assert "newer base" in moved
    assert "## Changes since the last round" not in moved


def test_a_build_prompt_lists_what_sq_will_run_where_it_runs_anything():
    assert "- `make test`" in build_prompt_with_feedback(TASK, [], 1, 10, "", ["make test"])
    assert "Commands that sq runs" not in build_prompt()


QUALITY = {  # seed 002, task 3: each kind with the words that say what to look for
    IssueType.OVER_ENGINEERING: ("unnecessary abstraction", "single use"),
    IssueType.MISSING_ERROR_HANDLING: ("files, network", "input from outside", "unhandled"),
    IssueType.PATTERN_VIOLATION: ("conventions of the code around it",),
    IssueType.DEAD_CODE: ("unused imports", "unreachable branches", "commented out"),
}


@pytest.mark.parametrize("depth", ["standard", "deep", "comprehensive"])
@pytest.mark.parametrize("kind", QUALITY)
def test_a_review_from_standard_depth_on_is_told_to_check_each_of_the_four_kinds(depth, kind):
    _, asked, rest = get_review_prompt(depth).partition("Check the change for these kinds of quality issues")
    assert asked
    points = re.findall(r"^- (\S+): ((?:.+\n)+?)(?=- |\n)", rest, re.MULTILINE)[:4]
    assert {name for name, _ in points} == set(QUALITY)
    (told,) = (" ".join(words.split()) for name, words in points if name == kind)
    assert all(words in told for words in QUALITY[kind])


@pytest.mark.parametrize("under_way", [True, False])
def test_a_shallow_review_is_told_of_no_kind_of_shape(under_way):
    prompt = get_review_prompt("shallow", under_way=under_way)
    assert "missed requirements and wrong behaviour alone" in prompt
    missed = {IssueType.INCORRECT_BEHAVIOR, IssueType.SPEC_MISMATCH}
    assert {kind for kind in IssueType if kind in prompt} == missed == set(types_at(ReviewDepth.SHALLOW))
    shape = r"quality|abstraction|engineer|error.handling|convention|pattern|unused|dead|architecture|style"
    assert re.findall(shape, prompt, re.IGNORECASE) == []


@pytest.mark.parametrize("depth", ReviewDepth)
def test_a_review_asks_for_structured_issues_at_every_depth(depth):
    prompt = get_review_prompt(depth)
    assert "file" in prompt
    assert "line" in prompt
    assert "suggestion" in prompt
    assert {kind for kind in IssueType if kind in prompt} == set(types_at(depth))


def test_each_depth_has_a_prompt_of_its_own_that_asks_more_than_the_one_before():
    asked = [get_review_prompt(depth) for depth in ReviewDepth]
    questions = [len(re.findall(r"^- ", prompt.split("Ask yourself:")[1], re.MULTILINE)) for prompt in asked]
    assert questions == sorted(set(questions))
    assert "obvious bug" in asked[0]
    assert "Security" in asked[3]
    assert "Security" not in asked[2]


def test_a_depth_that_is_none_is_an_error():
    with pytest.raises(ValueError, match="bottomless"):
        get_review_prompt("bottomless")


# --- what a prompt tells an agent to use -------------------------------------


def signals_of(role):
    """Its typed tools, that of a Worker which plans first included."""
    return (*SIGNALS[role], PLAN_SIGNAL) if role is Role.WORKER else SIGNALS[role]


def tools_of(role):
    """The tools of a role by the names that its model sees."""
    return {*ROLES[role].tools, *(f"{SIGNAL_PREFIX}{tool.name}" for tool in signals_of(role))}


def answer_schema():
    """What a Developer's answer looks like."""
    connection = KeyConnection(key=ApiKey(key="k"), config_dir=Path("/nowhere"))
    platform = Platform(
        connection=connection,
        claude=Claude(
            cli=Path("/nowhere"), launcher=Path("/nowhere"), dropped=frozenset(), folder=Path("/nowhere")
        ),
        settings=usual_settings(),
        asker=ApiAsker(connection),
        containment=Containment.SUPERVISOR,
        hidden=(),
    )
    ask = developer_ask(
        platform,
        questions=QUESTIONS,
        spec="",
        task=TASK,
        attempt=1,
        history=(),
        problem="",
        deadline_s=1,
    )
    guided = guidance_ask(platform, spec="", task=TASK, attempt=1, changes="", history=(), deadline_s=1)
    return [ask.schema, guided.schema]


def fields_in(schema):
    """The names of all properties in a JSON schema."""
    if isinstance(schema, dict):
        named = set(schema.get("properties", {})) if isinstance(schema.get("properties"), dict) else set()
        return named.union(*map(fields_in, schema.values()))
    return set().union(*map(fields_in, schema)) if isinstance(schema, list) else set()


def input_fields(role):
    if role is Role.DEVELOPER:  # it has no tools: it fills in its answer
        return fields_in(answer_schema())
    if role is Role.JUDGE:
        return fields_in(Judgement.model_json_schema()) | set(JudgeFinding)
    schemas = [tool.schema or tool.model.model_json_schema() for tool in signals_of(role)]
    return set().union(*map(fields_in, schemas))


ALL_TOOLS = set().union(*map(tools_of, Role))
BACKTICKED = re.compile(r"`([^`\n]+)`")


def read_by(role):
    """What a role may be told, without the words of specs and commands."""
    without = {**FULL, "instructions": get_review_prompt("comprehensive"), "verification": [], "problem": ""}
    return [rendered(name, without) for name in (*READERS[role], *READ_BY_ANYBODY)]


@pytest.mark.parametrize("role", Role)
def test_every_name_in_backticks_is_a_tool_of_that_role_or_a_field_of_one(role):
    known = tools_of(role) | input_fields(role)
    for text in read_by(role):
        for quoted in BACKTICKED.findall(text.replace("```", "")):
            is_command = quoted.startswith(("git ", "$TMPDIR", "/"))
            assert quoted in known or is_command or signal_in_text(quoted), f"{role}: `{quoted}`"


@pytest.mark.parametrize("role", Role)
def test_no_role_is_told_of_a_tool_that_it_does_not_have(role):
    strange = {tool for tool in ALL_TOOLS - tools_of(role) if "_" in tool or tool == "AskUserQuestion"}
    for text in read_by(role):
        assert not strange & set(re.findall(r"\w+", text))


@pytest.mark.parametrize("role", [role for role in Role if SIGNALS[role]])
def test_every_reporting_tool_of_a_role_is_named_in_its_prompts(role):
    told = "\n".join(read_by(role))
    for tool in SIGNALS[role]:
        assert f"`{SIGNAL_PREFIX}{tool.name}`" in told


def test_a_worker_is_told_how_to_ask():
    assert "AskUserQuestion" in rendered("worker_system", FULL)
    assert "AskUserQuestion" in ROLES[Role.WORKER].tools


def test_a_role_is_given_only_reporting_tools_of_its_own():
    names = [tool.name for tools in SIGNALS.values() for tool in tools]
    assert len(names) == len(set(names))
    assert not any(name.startswith(SIGNAL_PREFIX) for name in names)


def test_the_text_signals_that_a_worker_is_told_of_are_the_ones_that_count():
    told = BACKTICKED.findall(rendered("worker_system", FULL))
    signals = {signal_in_text(quoted)[0] for quoted in told if signal_in_text(quoted)}
    assert signals == {tool.name for tool in SIGNALS[Role.WORKER]}


def test_the_types_and_required_fields_of_a_review_stand_in_its_tools_schema():
    (tool,) = SIGNALS[Role.REVIEWER]
    issues = tool.schema["properties"]["issues"]["items"]
    assert tool.schema["required"] == ["passed", "issues"]
    assert set(issues["properties"]["type"]["enum"]) == {kind.value for kind in IssueType}
    assert {"file", "description", "suggestion"} <= set(issues["required"])
    assert "taskId" in input_fields(Role.REVIEWER)
    assert '"passed"' not in get_review_prompt("standard")


@pytest.mark.parametrize(
    "tool", [tool for tools in SIGNALS.values() for tool in tools], ids=lambda one: one.name
)
def test_every_reporting_tool_says_which_fields_it_needs(tool):
    schema = tool.schema or tool.model.model_json_schema()
    assert schema["required"]
    assert all(shape.get("description") for shape in schema["properties"].values())


def test_a_prompt_tells_no_agent_of_a_file_that_nobody_writes():
    for name in prompts.names():
        text = rendered(name, {**FULL, "files": "", "diff": "", "task": TASK, "findings": []})
        assert set(re.findall(r"[\w/.-]+\.(?:md|json|ya?ml|py|txt|log)\b", text)) <= {"counter.py"}


# --- the Developer's prompt ----------------------------------------------------------------------------


def test_the_developer_reads_each_question_with_its_options_and_the_newest_messages():
    text = rendered("developer_answer", FULL)
    lines = [
        "## Question 1",
        "Which colours?",
        "Options (several may be chosen):",
        "- Red: warm",
        "## Question 2",
        "Options:",
        "- a",
        "- b",
        "## Question 3",
        "No options: answer in words.",
        "# Simple Counter",
        "counter: A counter module",
        "## The newest 2 messages of the Worker's session",
        "[text] I look at it.",
        '[tool call Bash] {"command": "ls"}',
        "# Your last answer cannot be used",
    ]
    found = text.splitlines()
    places = [found.index(line) for line in lines]
    assert places == sorted(places)


def test_the_developer_reads_the_criteria_the_commands_and_their_results():
    text = rendered("developer_answer", FULL)
    for words in ("- increment() adds one", "- `make test`", "passed, 3 tests", "Project: a library"):
        assert words in text


@pytest.mark.parametrize("name", [*READERS[Role.REVIEWER], "resolve", "plan", "developer_answer"])
def test_no_commit_id_stands_in_a_prompt_whose_reader_cannot_use_it(name):
    text = rendered(name, {**FULL, "reviewed": "beef", "problem": ""})
    assert not {"c0ffee", "beef"} & set(re.findall(r"\w+", text))


def test_the_planner_is_told_what_is_built_side_by_side():
    for values in (FULL, {**EMPTY, "in_worktree": True, "sandboxed": True}):
        words = " ".join(rendered("plan", values).split())
        assert "Tasks without a dependency on each other are built side by side" in words
        assert "Keep work that rewrites one function" in words
        assert "distinct places" in words
    assert "side by side" not in rendered("plan", {**FULL, "in_worktree": False, "sandboxed": True})


# --- rules and places ----------------------------------------------------------------------------------


def test_a_worker_in_the_users_checkout_reads_no_word_of_a_worktree():
    texts = [
        rendered(name, {**FULL, "in_worktree": False, "sandboxed": True}) for name in READERS[Role.WORKER]
    ]
    assert not [text for text in texts if "worktree" in text]
    assert "the user's own checkout" in texts[0]


def test_a_worker_knows_what_of_the_network_it_reaches():
    online, offline = (rendered("worker_system", {**FULL, "online": online}) for online in (True, False))
    assert "the project's package registries" in online
    assert "no network" not in online
    assert "they have no network" in offline


def test_a_worker_knows_which_rules_hold_and_where_it_may_write():
    text = " ".join(rendered("worker_system", FULL).split())
    for words in (
        "the spec holds",
        "`$TMPDIR`",
        "This holds over any other advice on commits, stashes and attribution",
        "do not install or replace the program",
    ):
        assert words in text


def test_a_task_for_which_the_spec_wants_no_test_is_not_asked_for_one():
    line = "Touch only the readme."
    task = Task(id="t", title="A task", description="Mend the typo.", without_tests=line)
    prompt = build_prompt_with_feedback(task, [], 1, 10, verification=["make check"])
    told = prompt.casefold()
    assert not re.search(r"(?:write|add)[^.]*\btest|a test has to fail|tests`? before you claim", told)
    assert "change one only if the spec asks for another result" in told
    assert "weaken, skip or delete none to make it pass" in told
    assert "asks for no new test but" in told


@pytest.mark.parametrize(
    "description", ["Count with tests.", "The value is never negative.", "Do not add tests."]
)
def test_any_other_task_is_asked_for_a_test(description):
    task = Task(id="t", title="A task", description=description)
    assert "write a test that fails without your change" in build_prompt_with_feedback(task, [], 1, 10)


def test_an_attempt_that_begins_after_others_reads_its_number_and_blames_nobody_for_theirs():
    prompt = build_prompt_with_feedback(
        TASK, as_findings(ISSUE), 1, 10, before=Before(notes=NOTES), place=PromptContext(attempt=2)
    )
    assert "## Attempt: 2" in prompt
    assert "Your last attempt" not in prompt
    assert "Changes since then" in prompt


def test_a_fix_of_merged_work_is_called_that_for_its_worker_and_its_reviewer():
    place = PromptContext(merged=True, attempt=2)
    words = " ".join(build_prompt_with_feedback(TASK, as_findings(ISSUE), 1, 10, place=place).split())
    assert "only the fix is reviewed afterwards" in words
    assert "Only this fix is under review" in rendered("review_task", FULL)
    assert "Only this fix" not in rendered("review_task", EMPTY)


def test_without_a_problem_the_developer_is_told_of_none():
    assert "last answer" not in rendered("developer_answer", EMPTY)


# --- the Judge's questions ------------------------------------------------------------------------------


def told_to_the_judge(id_):
    """The system prompt and the words of a shipped question."""
    (one,) = (each for each in load_considerations(None).considerations if each.id == id_)
    asked = render(f"judge_{one.kind}", consideration=one, before="")
    return " ".join(f"{render('judge_system')} {asked}".split())


@pytest.mark.parametrize(*rows(__file__, "questions"))
def test_the_judge_is_told_what_by_the_letter_would_let_unfinished_work_through(id_, words):
    assert words in told_to_the_judge(id_)


def test_no_question_to_the_judge_calls_a_repaired_run_fine_without_more():
    assert "repaired and repeated is fine" not in told_to_the_judge("local_testing")


def test_a_worker_reads_the_requirements_of_its_task_by_id_and_place_and_what_the_others_build():
    criteria = [
        Criterion(id="c-1", text="it counts", task_ids=(TASK.id,), spec_lines=(5, 5)),
        Criterion(id="c-2", text="it is told", task_ids=("readme",), spec_lines=(6, 8)),
        Criterion(id="c-3", text="it is small", task_ids=(TASK.id, "readme")),
    ]
    other = Task(id="readme", title="Its readme", description="Write it.")
    place = PromptContext(criteria=criteria, others=[other])
    prompt = build_prompt_with_feedback(TASK, [], 1, 10, place=place)
    own, _, rest = prompt.partition("## The whole spec")
    assert "- c-1 (line 5 of the spec): it counts\n- c-3: it is small" in own
    assert "c-2" not in own
    assert "- readme: Its readme\n  Write it.\n  Its requirements: c-2, c-3\n" in rest
    review, _, rest = rendered(
        "review_task", {**FULL, "task": TASK, "criteria": criteria, "on_criteria": ""}
    ).partition("## The whole spec")
    assert "- c-1 (line 5 of the spec): it counts\n- c-3: it is small" in review
    assert "c-2" not in review + rest


def test_a_resumed_session_gets_its_instruction_again_only_if_it_lacks_it_and_a_resolver_looks_at_its_index():
    about = {"prompt": "# Build it\n\nEvery word.", "writes": True, "asks": False}
    assert "Every word." in render("resumed", whole=True, stages=False, **about)
    brief = render("resumed", whole=False, stages=True, **about)
    assert "Every word." not in brief
    assert "> # Build it" in brief
    assert "`git add` or `git rm` may be unmarked again" in " ".join(brief.split())


# --- who runs which tests ---------------------------------------------------------------------------------------


def told_to_run(**place):
    commands = ["pytest -n auto", "black --check ."]
    prompt = build_prompt_with_feedback(TASK, [], 1, 10, verification=commands, place=PromptContext(**place))
    return " ".join(prompt.split())


JUST, LINT = (
    "`just test` (Justfile) is left out: --verify names the tests that sq runs",
    "`just lint` is left out",
)


def test_a_worker_runs_the_whole_suite_only_where_it_takes_less_than_minutes():
    long, short = told_to_run(minutes=8, not_run=[JUST, LINT], suites=[JUST]), told_to_run()
    for told in (long, short):
        assert "Run the tests of your change before you claim to be done" in told
    assert "and then the project's tests" in short
    assert "project's tests" not in long
    assert "leave the whole suite to sq" in long
    assert "So run the tests of your change yourself, and leave the whole suite to sq." in long
    system = render("worker_system", in_worktree=True, sandboxed=True, online=False)
    assert "you have seen the tests of your change pass" in " ".join(system.split())


def test_a_worker_runs_what_sq_leaves_out_unless_sq_runs_those_tests_in_another_form():
    mixed = told_to_run(not_run=[JUST, LINT], suites=[JUST])
    assert "Run those yourself that are no whole suite of tests, where their programs are here" in mixed
    assert "sq runs the tests by the commands above" in mixed
    only_suites = told_to_run(not_run=[JUST], suites=[JUST])
    assert "Leave them to sq too, which runs the tests by the commands above." in only_suites
    assert "yourself where their programs" not in only_suites
    assert "Run them yourself where their programs are here" in told_to_run(not_run=[LINT])


def test_the_place_of_a_requirement_has_its_words_for_readers_who_see_no_numbers_of_lines():
    criterion = Criterion(
        id="c-1", text="it counts", task_ids=(TASK.id,), spec_lines=(5, 5), quote="The counter adds one."
    )
    prompt = build_prompt_with_feedback(TASK, [], 1, 10, place=PromptContext(criteria=[criterion]))
    assert "- c-1 (line 5 of the spec): it counts\n  The spec says: The counter adds one." in prompt
    review = rendered("review_task", {**FULL, "task": TASK, "criteria": [criterion], "on_criteria": ""})
    assert "- c-1 (line 5 of the spec): it counts\n  The spec says: The counter adds one." in review


def test_a_planner_is_told_of_the_deadline_and_only_if_there_is_one():
    told = " ".join(rendered("plan", FULL).split())
    assert (
        "one task needs 8 min from its claim to its merge, so 1 of the 3 tasks can be merged by then." in told
    )
    assert "plan fewer tasks, or smaller ones" in told
    assert "## The time" not in rendered("plan", EMPTY)


def test_the_second_review_of_a_plan_reads_what_the_first_one_found():
    told = " ".join(rendered("review_plan", FULL).split())
    assert (
        "It found: - counter.py: The second line is missing Look first whether this plan mends each" in told
    )
    assert "sent the plan before this one back" not in rendered("review_plan", EMPTY)
