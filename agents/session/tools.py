"""The typed tools through which each role reports: `task_complete`, `submit_plan`, `report_review`, ….

They run inside sq's process. A role gets only its own tools, so that a builder cannot pass its own review.
Invalid input is returned to the agent as an error with the reasons. Valid input is stored before the agent
gets its confirmation.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from state.records.calls import TASK_COMPLETE
from state.records.plan import ConstraintKind, CriterionKind, ReadingKind
from state.records.reviews import CriterionVerdict, EvidenceKind, IssueType
from state.records.spec_check import FaultKind
from state.roles import Role

TASK_STUCK = "task_stuck"
ITERATION_DONE = "iteration_done"
SUBMIT_IMPLEMENTATION_PLAN = "submit_implementation_plan"
REPORT_ANALYSIS = "report_analysis"
SUBMIT_PLAN = "submit_plan"
REPORT_REVIEW = "report_review"
CONFLICT_RESOLVED = "conflict_resolved"
CONFLICT_STUCK = "conflict_stuck"


_Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
_NOTES = "For the next session on this task: what you learned, what failed, and what the spec wants noted."


class _Input(BaseModel):
    model_config = ConfigDict(extra="ignore")


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _object(required: list[str], **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


def _list_of(item: dict[str, Any], description: str) -> dict[str, Any]:
    return {"type": "array", "items": item, "description": description}


class DisputeInput(_Input):
    """A Worker's evidence against a finding of a review."""

    id: _Words = Field(description="The finding's id, as it was given to you. Any other id is ignored.")
    evidence: _Words = Field(description="The evidence that the finding is wrong: code, output, the spec.")


class TaskCompleteInput(_Input):
    """A Worker's claim that its task is done."""

    summary: str = Field(description="Your work, in a sentence or two.")
    tests: str = Field(default="", description="Which tests you ran and how they ended.")
    disputes: list[DisputeInput] = Field(
        default_factory=list, description="Findings that you did not act on because they are wrong."
    )
    notes: str = Field(default="", description=_NOTES)


class TaskStuckInput(_Input):
    """A Worker's report that it cannot go on."""

    reason: str = Field(min_length=1, description="The obstacle that stops you, and the help that you need.")
    notes: str = Field(default="", description=_NOTES)


class IterationDoneInput(_Input):
    """A Worker's report at the end of a turn with work left."""

    done: str = Field(description="The work that you finished in this turn.")
    test_status: str = Field(default="", description="The state of the tests.")
    next_step: str = Field(default="", description="Your next step.")
    blockers: list[str] = Field(default_factory=list, description="Obstacles to the rest of the work.")
    notes: str = Field(default="", description=_NOTES)


class ImplementationPlanInput(_Input):
    """A Worker's plan for building its task."""

    plan: str = Field(min_length=1, description="The changes with their places, in order, and the tests.")


class SpecFindingInput(_Input):
    """A fault of the spec, as a question to the person who wrote it."""

    kind: FaultKind = Field(description="The kind of fault, as the prompt describes them.")
    lines: list[int] = Field(
        description="The lines of the spec that show it, by the numbers before them, the fewest that do."
    )
    question: _Words = Field(description="What has to be decided, in one sentence.")
    why: _Words = Field(description="What goes wrong if nobody decides, with the code that shows it.")
    options: list[_Words] = Field(
        description="Two to four different answers, each a decision to build from, in a few words."
    )
    recommended: _Words = Field(description="The best of `options`, word for word.")
    decides_outcome: bool = Field(
        description="True if another answer leads to other work, or if this cannot be built or shown."
    )


class AnalysisInput(_Input):
    """A description of a repository, and the faults of the spec."""

    project_type: str = Field(description="The kind of project.")
    stack: list[str] = Field(default_factory=list, description="Languages, frameworks, build tools.")
    entry_points: list[str] = Field(default_factory=list, description="Where execution starts, as paths.")
    patterns: list[str] = Field(default_factory=list, description="Conventions that new code has to follow.")
    verification_commands: list[str] = Field(
        default_factory=list, description="Commands by which the project checks itself, as typed in its root."
    )
    spec_findings: list[SpecFindingInput] | None = Field(
        default=None,
        description="The faults of the spec, the gravest first. Always send it: `[]` if it has none.",
    )


class PlanTask(_Input):
    """One task of a plan."""

    id: str = Field(description="Short: letters, digits and dashes.")
    title: str = Field(description="The task in a line, which becomes the title of its commit.")
    description: str = Field(description="The work, and where to do it. The builder has this and the spec.")
    acceptance_criteria: list[str] = Field(
        default_factory=list, description="When the task is done, in words that can be checked."
    )
    dependencies: list[str] = Field(default_factory=list, description="Ids of tasks whose result is needed.")
    estimated_iterations: int = Field(default=1, description="Turns that the builder will need.")
    without_tests: str = Field(
        default="",
        description="The line of the spec that wants no test for this task, word for word, if one does.",
    )


class PlanCriterion(_Input):
    """One requirement of the spec and the tasks that meet it."""

    text: str = Field(description="The requirement, as one sentence that can be checked.")
    quote: str = Field(
        default="", description="The words of the spec that ask for it, copied word for word, from one place."
    )
    first_line: int = Field(default=0, description="The line of the spec where the quote begins, if known.")
    last_line: int = Field(default=0, description="The line of the spec where the quote ends, if known.")
    kind: CriterionKind = Field(
        default=CriterionKind.BEHAVIOUR,
        description=(
            "`behaviour`: the program does something, which a test can show. `constraint`: how it is "
            "built, or something that must stay as it is. `document`: words in a file for people."
        ),
    )
    constraint: ConstraintKind | None = Field(
        default=None,
        description=(
            "For a constraint that sq can compute. `dependencies`: none is added. `public names stay`: none "
            "is removed or gets other parameters. `new public names`: none is added. `untouched`: files stay "
            "as they are. `command`: a command passes that is no suite of tests, as a type checker."
        ),
    )
    names: list[str] = Field(
        default_factory=list,
        description=(
            "With `constraint`: the dependencies or public names that the spec exempts, the paths or globs "
            "that stay untouched, or the command."
        ),
    )
    task_ids: list[str] = Field(default_factory=list, description="Ids of the tasks that meet it.")
    stays: bool = Field(
        default=False, description="True if it demands that something stays as it is before the work."
    )


class PlanTest(_Input):
    """A test that the spec asks to change."""

    test: str = Field(
        description="The test's name as sq printed it, else as its file has it, or the path of the file."
    )
    line: str = Field(default="", description="The line of the spec that asks for it, word for word.")


class PlanReading(_Input):
    """A line of the spec that says more than a requirement."""

    kind: ReadingKind = Field(
        description=(
            "`suite passes`: all tests have to pass, also those that fail now. `stays empty`: the functions "
            "in `names` shall do nothing, as a stub, a no-op or an abstract method. `changes`: the "
            "existing functions in `names` shall give other results than now for the same inputs. `stays`: "
            "their results shall remain."
        )
    )
    line: str = Field(description="The line of the spec that says so, word for word.")
    names: list[str] = Field(
        default_factory=list, description="Names of functions, for all but `suite passes`."
    )


class PlanInput(_Input):
    """A plan."""

    tasks: list[PlanTask] = Field(description="The tasks, in any order.")
    criteria: list[PlanCriterion] = Field(
        default_factory=list, description="Every requirement of the spec, constraints included."
    )
    tests_that_change: list[PlanTest] = Field(
        default_factory=list,
        description="Existing tests, or files of tests, that have to change or go because the spec says so.",
    )
    readings: list[PlanReading] = Field(
        default_factory=list, description="Lines of the spec that say one of these things, if there are some."
    )


class ConflictResolvedInput(_Input):
    """A Resolver's claim that a merge keeps the intentions of both sides."""

    summary: str = Field(description="How you brought the two sides together, in a sentence or two.")
    noticed: str = Field(
        default="", description="Observations about other code. The final review reads them."
    )


class ConflictStuckInput(_Input):
    """A Resolver's report that it cannot bring the two sides together."""

    reason: str = Field(min_length=1, description="Why the two sides exclude each other.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalTool:
    """One reporting tool. If `model` is None, the input is passed on as it came and its reader judges it.

    `lists` are required lists that count as empty where the agent leaves them out, because its reader says
    better than the schema which entries are missing.
    """

    name: str
    description: str
    model: type[BaseModel] | None
    schema: dict[str, Any] | None = None
    lists: tuple[str, ...] = ()


_EARLIER = _object(
    ["id", "state", "why"],
    id=_text("The id that stands in brackets."),
    state={"type": "string", "enum": ["fixed", "open", "won't fix"]},
    why=_text("The reason, in a sentence."),
)
_CHANGED_TEST = _object(
    ["test", "ruling", "why"],
    test=_text("The test's name, as the prompt prints it."),
    ruling={"type": "string", "enum": ["accepted", "refused"]},
    why=_text("The reason, in a sentence. For accepted tests, the words that ask for the change."),
)
_EVIDENCE = _object(
    ["kind", "ref"],
    kind={"type": "string", "enum": [one.value for one in EvidenceKind if one is not EvidenceKind.COMPUTED]},
    ref=_text("The test's name, the command as the prompt prints it, or `path:line`."),
)
_CRITERION = _object(
    ["id", "verdict", "reason"],
    id=_text("The id of the criterion, as the prompt prints it."),
    verdict={"type": "string", "enum": [verdict.value for verdict in CriterionVerdict]},
    reason=_text("The reason, in a sentence."),
    evidence=_list_of(_EVIDENCE, "The evidence that shows it. sq checks each piece itself."),
)


def review_tool(types: Iterable[IssueType], ruled: tuple[str, ...] = ()) -> SignalTool:
    """Return the Reviewer's tool, which offers these types of issues and requires these lists of rulings.

    `orchestrator.run.review.report` judges reports, also invalid ones.
    """
    issue = _object(
        ["file", "type", "description", "suggestion"],
        taskId=_text("The task that has to fix it, where the prompt asks for that."),
        file=_text("The file, as a path in the repository."),
        line={"type": "integer", "description": "The line in that file."},
        type={"type": "string", "enum": [kind.value for kind in types]},
        description=_text("What is wrong."),
        suggestion=_text("The change that fixes it."),
    )
    schema = _object(
        ["passed", "issues", *ruled],
        passed={"type": "boolean", "description": "True only if `issues` is empty."},
        issues=_list_of(issue, "New findings that have to be fixed."),
        suggestions=_list_of({"type": "string"}, "Improvements that are no reason to send the work back."),
        tests=_list_of(_CHANGED_TEST, "A ruling on each changed test that the prompt lists."),
        earlier=_list_of(_EARLIER, "The state of each earlier finding that the prompt lists."),
        criteria=_list_of(_CRITERION, "A verdict on each criterion of the spec, if the prompt lists them."),
    )
    return SignalTool(
        name=REPORT_REVIEW, description="Report your review, once.", model=None, schema=schema, lists=ruled
    )


SIGNALS: dict[Role, tuple[SignalTool, ...]] = {
    Role.WORKER: (
        SignalTool(
            name=TASK_COMPLETE,
            description="Claim that the task is complete. sq then checks it.",
            model=TaskCompleteInput,
        ),
        SignalTool(name=TASK_STUCK, description="Say that you cannot go on, and why.", model=TaskStuckInput),
        SignalTool(
            name=ITERATION_DONE,
            description="End this turn with work left to do.",
            model=IterationDoneInput,
        ),
    ),
    Role.PLANNER: (
        SignalTool(
            name=REPORT_ANALYSIS,
            description="Report your analysis of this repository, and the faults of the spec.",
            model=AnalysisInput,
        ),
        SignalTool(name=SUBMIT_PLAN, description="Submit the plan.", model=PlanInput),
    ),
    Role.REVIEWER: (review_tool(IssueType),),
    Role.RESOLVER: (
        SignalTool(
            name=CONFLICT_RESOLVED,
            description="Claim that the conflict is resolved. sq then checks it.",
            model=ConflictResolvedInput,
        ),
        SignalTool(
            name=CONFLICT_STUCK,
            description="Say that the two sides exclude each other.",
            model=ConflictStuckInput,
        ),
    ),
    Role.DEVELOPER: (),
    Role.JUDGE: (),
}

# An additional tool of a Worker that plans before it builds.
PLAN_SIGNAL = SignalTool(
    name=SUBMIT_IMPLEMENTATION_PLAN,
    description="Hand over your plan, when you were asked for one.",
    model=ImplementationPlanInput,
)


class UnfitReportError(Exception):
    """A report does not fit its typed tool. The message tells the agent which fields to correct."""


def payload_of(tool: SignalTool, arguments: Mapping[str, Any]) -> str:
    """Return a report as JSON.

    Raises:
        UnfitReportError: it does not fit.
    """
    if tool.model is None:
        return json.dumps(arguments)
    try:
        return tool.model.model_validate(arguments).model_dump_json()
    except ValidationError as error:
        lines = [f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()]
        said = f"{tool.name} was not recorded. Correct these fields and call it again:"
        raise UnfitReportError("\n".join([said, *lines])) from error


def schema_of(tool: SignalTool) -> dict[str, Any]:
    """Return the JSON schema of a report by this tool."""
    return tool.schema or (tool.model.model_json_schema() if tool.model else {})
