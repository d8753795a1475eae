"""Journals of runs that were never made: twelve tasks in every state that there is, and a run of very many events.

`python tests/language/large_runs.py FOLDER [--ended] [--events N] [--on] [--storm N --pause S] [--hold S]` writes one
into the state folder FOLDER and prints its id; see `main`.
"""

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from orchestrator.checks.objecting import CODE_BEFORE
from orchestrator.checks.objecting import changed as changes_found
from state.journal import events as e
from state.journal.codec import encode
from state.journal.events import Stored
from state.journal.store import Journal, journal_file
from state.outcome import Outcome
from state.records.calls import CallEnd, Message, MessageKind, Usage
from state.records.commands import (
    BaselineCheck,
    BaselineOutcome,
    CanaryResult,
    CommandRun,
    TestCount,
    TestState,
)
from state.records.objections import Proof
from state.records.plan import Analysis, Criterion, Task
from state.records.questions import Answer, Basis, Question, QuestionOption
from state.records.reviews import Finding, FindingState, IssueType, ReviewIssue, TestChange, TestChangeKind
from state.records.work import ChangeKind, FileChange, HandOver
from state.roles import Role
from state.settings.presets import usual_settings
from state.settings.records import Confinement, OnQuestion
from state.verdicts import CheckResult, Source, Verdict

BEGAN = datetime(2026, 1, 31, 14, 0, 0, tzinfo=UTC)
RUN_ID = "20260131-140000-rbeg"
VERIFY = "python -m pytest -q"
PLACES = 2
SPEC = """# A shop

- A counter gives every invoice a number of its own.
- Prices and discounts are computed with decimals.
- Money is rounded half to even.
- A cart holds articles and their amounts.
- Invoices show the discount.
- A report lists the invoices of a month.
"""
NEEDS = {
    "prices": ("counter",),
    "discounts": ("prices",),
    "rounding": ("prices",),
    "cart": ("prices",),
    "invoice": ("discounts", "rounding"),
    "report": ("cart", "invoice"),
    "newsletter": ("mail",),
}
TITLES = {
    "counter": "Numbers of invoices",
    "prices": "Prices as decimals",
    "discounts": "Discounts by article and by sum",
    "rounding": "Money is rounded half to even",
    "cart": "A cart of articles",
    "invoice": "Invoices that show the discount",
    "mail": "Invoices are sent by mail",
    "export": "Export to a spreadsheet",
    "accounts": "Accounts without the legacy table",
    "report": "Report of a month",
    "search": "Search in invoices",
    "newsletter": "A newsletter for customers",
}
MERGED = ("counter", "prices", "discounts", "rounding")
BUILT = (*MERGED, "cart", "search")  # have a commit at the end
PARKED = "Delete the column users.legacy, which nothing reads any more?"


class Writer:
    """Events of a run, one after the other, with the time that passed before each."""

    def __init__(self, began: datetime = BEGAN) -> None:
        self.now = began
        self.events: list[Stored] = []
        self._calls = 0

    def say(self, *events: e.Event, after: float = 0.4) -> None:
        for event in events:
            self.now += timedelta(seconds=after)
            self.events.append(Stored(len(self.events) + 1, self.now, event))

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def begin_call(self, role: Role, task_id: str, attempt: int = 1, iteration: int = 1, **more: str) -> str:
        self._calls += 1
        call_id = f"call-{self._calls}"
        self.say(
            e.CallStarted(
                call_id=call_id,
                role=role,
                task_id=task_id,
                attempt=attempt,
                iteration=iteration,
                session_id=f"session-{role}-{task_id}-{attempt}",
                model=_MODELS[role],
                prompt=f"# {TITLES.get(task_id, task_id)}\n\nYou are the {role} of attempt {attempt}.\nDo it well.",
                system=f"You are the {role} of sq.",
                reserved_usd=0.3,
                allowed_usd=2.5,
                **more,
            )
        )
        return call_id

    def end_call(
        self, call_id: str, cost: float, *, end: CallEnd = CallEnd.COMPLETED, detail: str = ""
    ) -> None:
        usage = Usage(
            input_tokens=900, output_tokens=2_100, cache_read_tokens=48_000, cache_write_tokens=7_000
        )
        self.say(
            e.CallEnded(
                call_id=call_id, end=end, detail=detail, cost_usd=cost, usage=usage, seconds=60.0, turns=9
            )
        )

    def call(self, role: Role, task_id: str, attempt: int = 1, iteration: int = 1, *, cost: float, takes: float,
             **more: str) -> str:  # fmt: skip
        call_id = self.begin_call(role, task_id, attempt, iteration, **more)
        self.wait(takes)
        self.end_call(call_id, cost)
        return call_id

    def message(
        self, call_id: str, kind: MessageKind, text: str, tool: str = "", *, error: bool = False
    ) -> None:
        self.say(
            e.MessageReceived(
                call_id=call_id, message=Message(kind=kind, text=text, tool=tool, is_error=error)
            )
        )

    def tool(self, call_id: str, name: str, result: str, *, error: bool = False, **arguments: str) -> None:
        self.message(call_id, MessageKind.TOOL_CALL, json.dumps(arguments), name)
        self.wait(2)
        self.message(call_id, MessageKind.TOOL_RESULT, result, name, error=error)


_MODELS = {
    Role.PLANNER: "opus",
    Role.WORKER: "opus",
    Role.REVIEWER: "sonnet",
    Role.DEVELOPER: "haiku",
    Role.JUDGE: "haiku",
    Role.RESOLVER: "opus",
}


def run_of(command: str = VERIFY, *, passed: int = 11, failed: int = 0, seconds: float = 2.1) -> CommandRun:
    """A run of the tests, with the names of those that ran."""
    tests = {f"tests/test_shop.py::test_{number}": TestState.PASSED for number in range(passed)}
    tests |= {f"tests/test_shop.py::test_red_{number}": TestState.FAILED for number in range(failed)}
    return CommandRun(
        command=command,
        exit_code=1 if failed else 0,
        seconds=seconds,
        output_tail=f"{failed} failed, {passed} passed in {seconds:.2f}s\n",
        count=TestCount(tests=tests, passed=passed, failed=failed, skipped=0),
    )


def commits_of(repository: Path, tasks: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Make a repository with a commit for each of these tasks; returns the commit and the tree of each, and of ""."""

    def git(*words: str) -> str:
        told = {
            **os.environ,
            "GIT_AUTHOR_DATE": "2026-01-31T14:00:00Z",
            "GIT_COMMITTER_DATE": "2026-01-31T14:00:00Z",
        }
        identity = ["-c", "user.name=Owner", "-c", "user.email=owner@localhost", "-c", "commit.gpgsign=false"]
        done = subprocess.run(
            ["git", "-C", str(repository), *identity, *words],
            check=True,
            env=told,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    def here() -> tuple[str, str]:
        return git("rev-parse", "HEAD"), git("rev-parse", "HEAD^{tree}")

    repository.mkdir(parents=True, exist_ok=True)
    git("init", "--quiet", "--initial-branch=main")
    (repository / "shop").mkdir(exist_ok=True)
    (repository / "shop" / "__init__.py").write_text('"""A shop."""\n')
    (repository / "spec.md").write_text(SPEC)
    git("add", "--all")
    git("commit", "--quiet", "-m", "First commit")
    found = {"": here()}
    for task_id in tasks:
        (repository / "shop" / f"{task_id}.py").write_text(_module_of(task_id))
        (repository / "shop" / "__init__.py").write_text(f'"""A shop with {task_id}."""\n')
        git("add", "--all")
        git("commit", "--quiet", "-m", TITLES[task_id])
        found[task_id] = here()
    git("branch", "--quiet", "sq/made")
    git("reset", "--quiet", "--hard", found[""][0])
    return found


def _module_of(task_id: str) -> str:
    functions = [
        f'\n\ndef {task_id}_{number}(value: int) -> int:\n    """Part {number}."""\n    return value + {number}\n'
        for number in range(1, 6)
    ]
    return f'"""{TITLES[task_id]}."""\n{"".join(functions)}'


_INVENTED = {
    name: (f"{number:02x}" * 20, f"{number + 100:02x}" * 20) for number, name in enumerate(["", *BUILT], 1)
}


def twelve_tasks(
    repository: Path | None = None, *, began: datetime = BEGAN, ended: bool = False
) -> list[Stored]:
    """Return the events of a run of twelve tasks: merged, in review, building, stuck, failed, parked, waiting.

    Four are merged, `cart` is in review, `invoice` is built, `mail` is stuck, `export` failed, `accounts` asked
    a question that is parked, `report` waits for others, `search` for a place, `newsletter` for the stuck one.

    Args:
        repository: a folder in which a git repository with the commits of the run is made. Without it the
            journal names commits that exist nowhere.
        began: when the run began.
        ended: the run goes on to its end. `cart` and `search` are then merged as well, `invoice` is unverified,
            `report` never begins. The outcome is failed.
    """
    commits = commits_of(repository, BUILT) if repository else _INVENTED
    life = _Twelve(Writer(began), commits, str(repository or "/repository"))
    life.plan()
    life.merged_tasks()
    life.ended_badly()
    life.under_way()
    if ended:
        life.end()
    return life.w.events


class _Twelve:
    def __init__(self, writer: Writer, commits: dict[str, tuple[str, str]], repository: str) -> None:
        self.w = writer
        self.commits = commits
        self.repository = repository
        self.head = commits[""][0]
        self.tree = commits[""][1]
        self.open: dict[str, str] = {}

    def plan(self) -> None:
        w = self.w
        settings = replace(
            usual_settings("medium", (VERIFY,)),
            max_parallel=PLACES,
            budget_run_usd=10.0,
            questions=OnQuestion.PARK,
        )
        w.say(
            e.RunStarted(
                run_id=RUN_ID, spec_name="shop.md", spec_text=SPEC, repository=self.repository,
                worktrees=f"{self.repository}-worktrees", base_commit=self.head, base_branch="main",
                rehearsal=None, credentials="API key", sq_version="0.1.0",
                settings=settings, confined=Confinement(containment="supervisor"),
            ),
            e.BaselineStarted(tree=self.tree, commands=(VERIFY,)),
        )  # fmt: skip
        w.wait(3)
        canary = CanaryResult(command=VERIFY, path="tests/test_canary.py", name="test_canary", caught=True)
        check = BaselineCheck(
            run=run_of(), source="--verify", outcome=BaselineOutcome.PASSES, chosen=True, canary=canary
        )
        w.say(e.BaselineTaken(tree=self.tree, environment="e1", checks=(check,)))
        w.call(Role.PLANNER, "analysis", cost=0.06, takes=20)
        w.say(
            e.RepositoryAnalyzed(
                analysis=Analysis(
                    project_type="library", stack=("python",), patterns=("one module a subject",)
                )
            )
        )
        w.call(Role.PLANNER, "plan", cost=0.12, takes=45)
        tasks = tuple(
            Task(
                id=id_, title=title, description=f"{title}.", dependencies=NEEDS.get(id_, ()),
                acceptance_criteria=(f"{title}, with tests.",),
            )
            for id_, title in TITLES.items()
        )  # fmt: skip
        lines = [line.removeprefix("- ") for line in SPEC.splitlines() if line.startswith("- ")]
        owners = (("counter",), ("prices", "discounts"), ("rounding",), ("cart",), ("invoice",), ("report",))
        criteria = tuple(
            Criterion(
                id=f"c-{number}", text=text, quote=text, spec_lines=(number + 2, number + 2), task_ids=ids
            )
            for number, (text, ids) in enumerate(zip(lines, owners, strict=True), start=1)
        )
        w.say(e.PlanProposed(tasks=tasks, criteria=criteria))
        w.call(Role.REVIEWER, "plan", cost=0.05, takes=15)
        w.say(e.ReviewRecorded(task_id="plan", attempt=1, commit="", passed=True, issues=()))
        w.say(e.PlanAccepted(tasks=tasks, criteria=criteria, reviewed=True))

    def merged_tasks(self) -> None:
        self.builds("counter", cost=0.31)
        self.reviews("counter")
        self.merges("counter")
        self.builds("prices", cost=0.40)
        self.sent_back("prices")
        self.builds("prices", attempt=2, cost=0.22)
        self.reviews("prices", attempt=2, disputed=True)
        self.merges("prices")
        self.builds("discounts", cost=0.52)
        self.reviews("discounts")
        self.merges("discounts", conflict=True)
        self.builds("rounding", cost=0.18, question=True)
        self.reviews("rounding")
        self.merges("rounding")

    def begins(self, id_: str, attempt: int = 1) -> None:
        w = self.w
        if attempt == 1:
            place = f"{self.repository}-worktrees/{id_}"
            w.say(
                e.TaskStarted(
                    task_id=id_, branch=f"sq-tasks/{RUN_ID}/{id_}", worktree=place, base_commit=self.head
                ),
                e.SetUpStarted(task_id=id_, folder=place, steps=("uv sync (uv.lock)",)),
            )
            w.wait(4)
            ready = run_of("uv sync", passed=0)
            w.say(e.WorkspaceSetUp(task_id=id_, folder=place, copied=(".env",), runs=(ready,)))
        else:
            notes = HandOver(attempt=attempt - 1, done="The module stands.", next_step="the findings")
            w.say(e.HandedOver(task_id=id_, attempt=attempt - 1, notes=notes))
        w.say(
            e.AttemptStarted(
                task_id=id_, attempt=attempt, session_id=f"session-worker-{id_}-{attempt}", tree=self.tree
            )
        )

    def works(self, id_: str, call_id: str) -> None:
        w = self.w
        w.message(call_id, MessageKind.TEXT, f"I look at the code first, then I write {id_}.")
        w.tool(
            call_id,
            "Read",
            '1\t"""A shop."""',
            file_path=f"{self.repository}-worktrees/{id_}/shop/__init__.py",
        )
        w.tool(call_id, "Write", "File created.", file_path=f"{self.repository}-worktrees/{id_}/shop/{id_}.py",
               content=_module_of(id_))  # fmt: skip
        w.tool(call_id, "Bash", "11 passed in 2.10s", command=VERIFY)

    def builds(self, id_: str, attempt: int = 1, *, cost: float, question: bool = False) -> None:
        w = self.w
        self.begins(id_, attempt)
        call_id = w.begin_call(Role.WORKER, id_, attempt)
        self.works(id_, call_id)
        if question:
            self.asks(id_, call_id)
        w.wait(70)
        w.say(e.SignalReceived(call_id=call_id, name="task_complete", payload='{"summary": "It is built."}'))
        w.end_call(call_id, cost, end=CallEnd.SIGNALLED)
        self.claims(id_, attempt)

    def claims(self, id_: str, attempt: int) -> None:
        w = self.w
        commit, tree = self.commits.get(id_, self.commits["cart"])
        place = {"task_id": id_, "attempt": attempt}
        w.say(
            e.IterationMeasured(**place, iteration=1, tree=tree),
            e.VerificationStarted(task_id=id_, tree=tree, commands=(VERIFY,)),
        )
        about = {"number": 1, "task_id": id_}
        w.say(e.CommandStarted(**about, command=VERIFY, purpose="verification", nth=1, of=1), after=0)
        w.wait(6)
        w.say(e.CommandEnded(**about, seconds=6.0), after=0)
        w.say(e.VerificationFinished(task_id=id_, tree=tree, runs=(run_of(passed=14),), environment="e1"))
        w.say(
            e.ProofsTaken(
                task_id=id_,
                tree=tree,
                proofs=(Proof(check=CODE_BEFORE, command=VERIFY, tests=("tests/test_shop.py::test_new",)),),
            )
        )
        for gate in ("worktree", "verification", "tests"):
            w.say(
                e.GateDecided(**place, iteration=1, gate=gate, verdict=Verdict.ALLOW, reason="", tree=tree),
                after=0.01,
            )
        judged = (
            CheckResult(consideration_id="todos_done", satisfied=True, blocker=True, source=Source.RULE),
            CheckResult(
                consideration_id="docs_updated", satisfied=False, blocker=False,
                reason="The README does not name the new module.", source=Source.JUDGE, cost_usd=0.002,
            ),
            CheckResult(
                consideration_id="ci_green", satisfied=True, blocker=False,
                reason="there is no CI here", source=Source.NOT_CHECKED,
            ),
        )  # fmt: skip
        w.call(Role.JUDGE, id_, attempt, cost=0.004, takes=3, subject="docs_updated")
        w.say(e.ChecksDecided(**place, iteration=1, results=judged))
        w.say(e.CompletionAccepted(**place, tree=tree), e.TaskCommitted(**place, commit=commit, tree=tree))

    def asks(self, id_: str, call_id: str) -> None:
        w = self.w
        question = Question(
            text="Which rounding does the spec mean?",
            header="Rounding",
            options=(QuestionOption(label="half to even"), QuestionOption(label="half up")),
        )
        w.say(e.QuestionsAsked(ask_id="ask-1", call_id=call_id, task_id=id_, questions=(question,)))
        by = w.call(Role.DEVELOPER, id_, cost=0.003, takes=4)
        answer = Answer(
            question=question.text, labels=("half to even",), reason="The spec says so.", basis=Basis.SPEC,
            evidence="Money is rounded half to even.",
        )  # fmt: skip
        w.say(e.QuestionsAnswered(ask_id="ask-1", answers=(answer,), model="haiku", by=by))

    def reviews(self, id_: str, attempt: int = 1, *, disputed: bool = False) -> None:
        w = self.w
        w.call(Role.REVIEWER, id_, attempt, cost=0.07, takes=40)
        findings = ()
        if disputed:
            findings = (
                replace(_finding(id_, "f-1"), state=FindingState.FIXED),
                replace(
                    _finding(id_, "f-2", "The name `p` says nothing."),
                    state=FindingState.WONT_FIX,
                    note="It is the name of the file's other functions.",
                ),
            )
        w.say(
            e.ReviewRecorded(
                task_id=id_, attempt=attempt, commit=self.commits[id_][0], passed=True, issues=(),
                suggestions=("Name the unit in the docstring.",), findings=findings,
            )
        )  # fmt: skip

    def sent_back(self, id_: str) -> None:
        w = self.w
        w.call(Role.REVIEWER, id_, cost=0.08, takes=40)
        found = _finding(id_, "f-1")
        second = _finding(id_, "f-2", "The name `p` says nothing.")
        issues = (found.issue, second.issue)
        w.say(
            e.ReviewRecorded(
                task_id=id_, attempt=1, commit=self.commits[id_][0], passed=False, issues=issues,
                findings=(found, second),
            ),
            e.TaskReopened(task_id=id_, issues=issues, findings=(found, second), by="the review"),
        )  # fmt: skip

    def merges(self, id_: str, *, conflict: bool = False) -> None:
        w = self.w
        commit, tree = self.commits[id_]
        place = {"task_id": id_, "commit": commit, "onto": self.head}
        w.say(e.MergeStarted(**place))
        if conflict:
            w.say(e.MergeConflicted(**place, paths=("shop/__init__.py",)))
            w.call(Role.RESOLVER, id_, cost=0.09, takes=30, subject="merge")
        w.say(e.VerificationStarted(task_id=id_, tree=tree, commands=(VERIFY,)))
        w.wait(5)
        w.say(e.VerificationFinished(task_id=id_, tree=tree, runs=(run_of(passed=14),), environment="e1"))
        w.say(
            e.MergeBuilt(**place, tree=tree, summary="Both sides kept." if conflict else ""),
            e.TaskMerged(**place, tree=tree),
        )
        files = _files(id_)
        w.say(
            e.WorkMeasured(task_id=id_, base=self.head, commit=commit, files=files, added=14, removed=0),
            after=0.0,
        )
        self.head, self.tree = commit, tree

    def ended_badly(self) -> None:
        w = self.w
        self.begins("mail")
        for iteration in (1, 2, 3):
            call_id = w.begin_call(Role.WORKER, "mail", 1, iteration)
            self.works("mail", call_id)
            w.end_call(call_id, 0.11)
            tree = f"{iteration:02d}" * 20
            place = {"task_id": "mail", "attempt": 1, "iteration": iteration}
            reason = (
                f"`{VERIFY}` failed, exit code 1\n    4 failed, 11 passed\n    tests/test_mail.py::test_sends"
            )
            w.say(
                e.IterationMeasured(**place, tree=tree, error="ConnectionRefusedError"),
                e.VerificationStarted(task_id="mail", tree=tree, commands=(VERIFY,)),
            )
            w.wait(4)
            w.say(
                e.VerificationFinished(task_id="mail", tree=tree, runs=(run_of(failed=4),), environment="e1"),
                e.GateDecided(**place, gate="verification", verdict=Verdict.BLOCK, reason=reason, tree=tree),
                e.CompletionRefused(**place, feedback=reason, fingerprint="same"),
            )
        w.say(e.TaskStuck(task_id="mail", reason="completion was refused 3 times for the same reason"))
        self.begins("export")
        call_id = w.begin_call(Role.WORKER, "export")
        w.tool(call_id, "Bash", "Killed", command="python -m shop.export --all", error=True)
        w.say(
            e.CallRetried(
                call_id=call_id, end=CallEnd.API_ERROR, detail="529 overloaded", wait_s=600, api_status=529
            )
        )
        w.wait(610)
        w.end_call(call_id, 0.05, end=CallEnd.DIED, detail="exit code 137")
        w.say(e.TaskFailed(task_id="export", cause="worker: process died: exit code 137"))
        self.begins("accounts")
        call_id = w.begin_call(Role.WORKER, "accounts")
        question = Question(
            text=PARKED, header="Column", options=(QuestionOption(label="yes"), QuestionOption(label="no"))
        )
        w.say(e.QuestionsAsked(ask_id="ask-2", call_id=call_id, task_id="accounts", questions=(question,)))
        w.call(Role.DEVELOPER, "accounts", cost=0.003, takes=4)
        answer = Answer(
            question=PARKED, labels=("no",), reason="The spec does not ask for it.", reversible=False
        )
        w.say(e.QuestionsParked(ask_id="ask-2", question=PARKED, answers=(answer,)))
        w.end_call(call_id, 0.08, end=CallEnd.UNANSWERED)
        asked = f"a question is parked for a person: {PARKED!r}. Answer it in the spec and run again"
        w.say(e.TaskStuck(task_id="accounts", reason=asked))

    def under_way(self) -> None:
        w = self.w
        self.builds("cart", cost=0.41)
        self.begins("invoice")
        for iteration in (1, 2, 3):
            call_id = w.begin_call(Role.WORKER, "invoice", 1, iteration)
            self.works("invoice", call_id)
            w.end_call(call_id, 0.2)
            place = {"task_id": "invoice", "attempt": 1, "iteration": iteration}
            tree = f"{iteration + 40:02d}" * 20
            reason = f"`{VERIFY}` failed, exit code 1\n    {4 - iteration} failed, 11 passed"
            w.say(
                e.IterationMeasured(**place, tree=tree),
                e.GateDecided(**place, gate="verification", verdict=Verdict.BLOCK, reason=reason, tree=tree),
                e.CompletionRefused(**place, feedback=reason, fingerprint=f"f-{iteration}"),
            )
        self.open["cart"] = w.begin_call(Role.REVIEWER, "cart")
        self.open["invoice"] = w.begin_call(Role.WORKER, "invoice", 1, 4)
        self.works("invoice", self.open["invoice"])
        w.message(self.open["cart"], MessageKind.TOOL_CALL, json.dumps({"file_path": "shop/cart.py"}), "Read")
        w.message(
            self.open["invoice"], MessageKind.TOOL_CALL,
            json.dumps({"command": "python -m pytest -q tests/test_invoice.py"}), "Bash",
        )  # fmt: skip

    def end(self) -> None:
        w = self.w
        w.end_call(self.open["cart"], 0.06)
        w.say(
            e.ReviewRecorded(
                task_id="cart", attempt=1, commit=self.commits["cart"][0], passed=True, issues=()
            )
        )
        self.merges("cart")
        self.builds("search", cost=0.2)
        self.reviews("search")
        self.merges("search")
        tree = "99" * 20
        w.say(
            e.SignalReceived(call_id=self.open["invoice"], name="task_complete", payload="{}"),
        )
        w.end_call(self.open["invoice"], 0.2, end=CallEnd.SIGNALLED)
        changed = TestChange(test="test_total", path="tests/test_cart.py", kind=TestChangeKind.SKIPPED)
        w.say(e.ProofsTaken(task_id="invoice", tree=tree, objections=tuple(changes_found([changed]))))
        w.say(e.TaskUnverified(task_id="invoice", reason="the reviewer made no usable report, 2 times"))
        w.say(
            e.WorkKept(branch="sq/made", commit=self.head, reason="not every task is merged"),
            e.RunEnded(outcome=Outcome.FAILED, cause="export: worker: process died: exit code 137"),
        )


def _finding(
    task_id: str, id_: str, description: str = "The price of a negative amount is not refused."
) -> Finding:
    issue = ReviewIssue(
        task_id=task_id, file=f"shop/{task_id}.py", line=7, type=IssueType.MISSING_ERROR_HANDLING,
        description=description, suggestion="Raise a ValueError.",
    )  # fmt: skip
    return Finding(id=id_, issue=issue)


def _files(id_: str) -> tuple[FileChange, ...]:
    return (
        FileChange(path=f"shop/{id_}.py", added=10, removed=0, kind=ChangeKind.ADDED),
        FileChange(path=f"tests/test_{id_}.py", added=4, removed=0, kind=ChangeKind.ADDED),
    )


def many_events(count: int = 100_000, *, began: datetime = BEGAN) -> list[Stored]:
    """Return the events of a run as long as this: twelve tasks, of which one is merged after the other.

    Nineteen of twenty events are messages of some 400 bytes. The last task is under way.
    """
    w = Writer(began)
    life = _Twelve(w, _INVENTED, "/repository")
    life.plan()
    ids = list(TITLES)
    for number, id_ in enumerate(ids):
        last = number == len(ids) - 1
        until = count - 40 if last else len(w.events) + (count - len(w.events)) // (len(ids) - number) - 30
        _long_task(life, id_, until)
        if not last:
            life.commits = {**life.commits, id_: (f"{number + 30:02x}" * 20, f"{number + 130:02x}" * 20)}
            life.claims(id_, 1)
            life.reviews(id_)
            life.merges(id_)
    call_id = next(reversed([one.event.call_id for one in w.events if isinstance(one.event, e.CallStarted)]))
    while len(w.events) < count:
        w.message(call_id, MessageKind.TEXT, "Going on.")
    return w.events


def _long_task(life: _Twelve, id_: str, until: int) -> None:
    w, iteration = life.w, 0
    life.begins(id_)
    while len(w.events) < until:
        iteration += 1
        call_id = w.begin_call(Role.WORKER, id_, 1, iteration)
        for number in range(min(140, max(1, (until - len(w.events)) // 2))):
            w.tool(call_id, "Bash", f"line {number}\n" * 60, command=f"{VERIFY} tests/test_{id_}_{number}.py")
        if until - len(w.events) > 12:
            place = {"task_id": id_, "attempt": 1, "iteration": iteration}
            tree = f"{iteration % 90 + 10}" * 20
            w.end_call(call_id, 0.01)
            w.say(
                e.IterationMeasured(**place, tree=tree),
                e.VerificationStarted(task_id=id_, tree=tree, commands=(VERIFY,)),
                e.VerificationFinished(task_id=id_, tree=tree, runs=(run_of(failed=1),)),
                e.GateDecided(**place, gate="verification", verdict=Verdict.BLOCK, reason="red", tree=tree),
                e.CompletionRefused(**place, feedback="1 failed", fingerprint=f"f-{iteration}"),
            )
        elif id_ != list(TITLES)[-1]:
            w.end_call(call_id, 0.01)
            return


def write(folder: Path, events: Sequence[Stored]) -> Path:
    """Write a journal with these events, their times and numbers into a run's folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    Journal(folder).close()
    with sqlite3.connect(journal_file(folder), isolation_level=None) as db:
        db.execute("BEGIN")
        db.executemany(
            "INSERT INTO events (seq, at, name, version, body) VALUES (?, ?, ?, ?, ?)", _rows(events)
        )
        db.execute("COMMIT")
    db.close()
    return folder


def _rows(events: Sequence[Stored]) -> Iterator[tuple[object, ...]]:
    for one in events:
        yield (one.seq, one.at.isoformat(), *encode(one.event))


def storm(folder: Path, count: int, pause_s: float) -> None:
    """Append messages to a run of twelve as its process would, `pause_s` apart, each with the time it was sent."""
    with Journal(folder) as journal:
        call_id = [one.event.call_id for one in journal.read() if isinstance(one.event, e.CallStarted)][-1]
        for number in range(count):
            text = f"message {number} sent at {time.time():.6f}"
            journal.append(
                e.MessageReceived(call_id=call_id, message=Message(kind=MessageKind.TEXT, text=text))
            )
            time.sleep(pause_s)


def main() -> None:
    """Write one into a state folder, for looking at it by hand."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, help="the state folder")
    parser.add_argument("--ended", action="store_true")
    parser.add_argument("--events", type=int, default=0, help="a run of so many events instead")
    parser.add_argument("--on", action="store_true", help="go on with the journal that is there")
    parser.add_argument("--storm", type=int, default=0, help="then append so many messages")
    parser.add_argument("--pause", type=float, default=0.01, help="seconds between them")
    parser.add_argument("--hold", type=float, default=0.0, help="stay the run's process for so many seconds")
    given = parser.parse_args()
    now = datetime.now(UTC)
    folder = given.folder / "runs" / RUN_ID
    if given.events:
        write(folder, many_events(given.events))
    elif not given.on:
        write(
            folder, twelve_tasks(given.folder / "made", began=now - timedelta(minutes=28), ended=given.ended)
        )
    sys.stdout.write(f"{RUN_ID}\n")
    sys.stdout.flush()
    if given.storm:
        storm(folder, given.storm, given.pause)
    if given.hold:
        with Journal(folder):
            time.sleep(given.hold)


if __name__ == "__main__":
    main()
