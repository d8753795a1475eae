"""The settings of a run: effort, models, limits, retries, policy. Resolved once, stored with the run.

These are plain records. `state.settings.config` finds their values.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, get_args

from state.records.calls import Usage
from state.roles import Role
from state.settings.integrations import Integrations


class ReviewDepth(StrEnum):
    """How closely a reviewer looks (seed 002)."""

    SHALLOW = "shallow"
    STANDARD = "standard"
    DEEP = "deep"
    COMPREHENSIVE = "comprehensive"


class Workflow(StrEnum):
    """How a spec becomes work: planned as tasks, in one prompt, or planned and built in one session."""

    ORCHESTRATED = "orchestrated"
    DIRECT = "direct"
    PLAN_THEN_IMPLEMENT = "plan-then-implement"


class Steering(StrEnum):
    """Which considerations power steering asks a Worker that claims completion."""

    NONE = "none"
    BLOCKERS = "blockers"
    ALL = "all"


class OnQuestion(StrEnum):
    """How to treat a question about an action that cannot be undone and that the spec does not cover."""

    ANSWER = "answer"
    PARK = "park"


class SetUp(StrEnum):
    """How a new worktree is made ready, if no commands are listed: from its files, or not at all."""

    AUTO = "auto"
    NONE = "none"


class Sandbox(StrEnum):
    """The sandbox that a run is asked to have: the strongest that works here, or one by name."""

    AUTO = "auto"
    OFF = "off"
    COMMANDS = "commands"
    WHOLE = "whole"


class CommandNetwork(StrEnum):
    """The network of verification commands in a sandbox."""

    NONE = "none"
    FULL = "full"


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """One row of `effort.yaml`, or a preset of the user's own: how much a run spends on being sure.

    `checkpoint_every` counts iterations of an attempt, and 0 means no checkpoints. `block_unproven_tests`: a
    Worker whose new tests pass without its change is sent back once.
    """

    name: str
    review_depth: ReviewDepth
    review_analysis: bool
    review_plan: bool
    checkpoint_every: int
    power_steering: Steering
    stuck_threshold: int
    revisions_per_task: int
    final_review_rounds: int
    budget_task_usd: float
    budget_run_usd: float
    models: dict[Role, str]
    block_unproven_tests: bool = False


# How much a model may think about one reply, as the API and Claude Code name it.
ModelEffort = Literal["low", "medium", "high", "xhigh", "max"]
MODEL_EFFORTS: tuple[ModelEffort, ...] = get_args(ModelEffort)


def split_effort(name: str) -> tuple[str, ModelEffort | None]:
    """Return a model's name and its effort, None if there is none: `opus:high` is `opus` and `high`.

    Only what follows the last colon counts, and only if it names an effort, because ids hold colons.
    """
    model, _, last = name.rpartition(":")
    effort = next((one for one in MODEL_EFFORTS if one == last), None)
    return (model, effort) if model and effort else (name, None)


CHARACTERS_PER_TOKEN = 3  # an estimate on the safe side, for prose and code


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """USD per million tokens. `prompt_tokens` is the prompt length from which on they apply."""

    input: float
    output: float
    cache_write: float
    cache_read: float
    prompt_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """One row of `models.yaml`, and the effort chosen for a role (None: the model's own).

    Without prices the cost cannot be counted, so no budget can hold.
    """

    alias: str
    id: str
    context: int
    prices: Prices | None
    above: Prices | None = None
    effort: ModelEffort | None = None

    @property
    def name(self) -> str:
        """Return the alias and the effort as people write them: `opus:high`, or `opus`."""
        return f"{self.alias}:{self.effort}" if self.effort else self.alias

    def cost(self, usage: Usage) -> float:
        """Return the cost of a call with these tokens in USD, or 0 if the prices are unknown."""
        prompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        prices = self.above if self.above and prompt > self.above.prompt_tokens else self.prices
        if prices is None:
            return 0.0
        return (
            usage.input_tokens * prices.input
            + usage.output_tokens * prices.output
            + usage.cache_write_tokens * prices.cache_write
            + usage.cache_read_tokens * prices.cache_read
        ) / 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that a run may use before it stops, times in seconds. `run_s` None: no limit of time."""

    max_iterations: int = 50  # per task
    max_turns: int = 250  # replies of the model in one exchange, against an agent that only calls tools
    idle_s: float = 300.0  # silence of a session's stream beyond this ends its process group
    connect_s: float = 60.0  # for Claude Code to answer at its start
    question_s: float = 60.0  # one AskUserQuestion call, all its questions together (seed 004)
    verify_s: float = 600.0  # one verification command
    run_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How failures of the API and of processes are retried. Waits are in seconds, doubling from the first."""

    tries: int = 10  # after the first, together about six minutes
    first_wait_s: float = 1.0
    longest_wait_s: float = 60.0
    longest_reset_s: float = 21_600.0  # a reset time named by the API that is further away is not waited for


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxHeld:
    """The sandbox that a run has in one process of sq: `level` is off, commands or whole.

    `commands`: those that sq runs on an agent's work are sandboxed. `reason`: why it is not a stronger one.
    """

    level: str
    commands: bool
    reason: str = ""

    @property
    def line(self) -> str:
        """Return the line for people."""
        if self.level == Sandbox.WHOLE:
            return "sandbox: whole (agents and commands reach their workspace and the model, nothing else)"
        commands = ", and whole around the commands that sq runs" if self.commands else ""
        return f"sandbox: {self.level}{commands} ({self.reason})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """How a process of sq holds agents: the way in which their processes are ended, and their sandbox.

    `key_exposed` says how agents could read the API key, if they could.
    """

    containment: str = ""
    sandbox: SandboxHeld | None = None
    key_exposed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxLimits:
    """The most that everything in one sandbox may use, where the kernel offers such a limit. None: no limit.

    `processes` counts processes and threads, `memory_mb` all their memory together, `file_mb` each file.
    """

    processes: int | None = 8_192
    memory_mb: int | None = None
    file_mb: int | None = 20_480


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSettings:
    """The sandbox of agents and of the commands that sq runs on their work."""

    mode: Sandbox = Sandbox.AUTO
    network: CommandNetwork = CommandNetwork.NONE
    limits: SandboxLimits = field(default_factory=SandboxLimits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of a run. A budget of None sets no limit.

    `protected` are patterns of paths that no task may change, beside the shipped ones. `allowed` are names of
    rules in `agents/session/policy.yaml` that are off for this run.
    """

    effort: Effort
    models: dict[Role, Model]
    verify: tuple[str, ...] = ()
    workflow: Workflow = Workflow.ORCHESTRATED
    questions: OnQuestion = OnQuestion.ANSWER
    context_window: int = (
        10  # newest messages of the Worker's session that the Developer sees (seed 004, FR-004)
    )
    worktrees: bool = True
    max_parallel: int = 4  # tasks under way at once
    worktree_include: tuple[str, ...] = ()  # patterns of ignored files that are copied to each worktree
    worktree_setup: tuple[str, ...] = ()  # commands that are run in each new worktree
    set_up: SetUp = SetUp.AUTO  # of worktrees, if no commands are listed
    gateway: bool = True  # with an API key, sessions ask through the forwarding gateway
    first_party: bool | None = None  # how Claude Code behaves there. None: by the API's address
    merge: bool = True
    merge_unverified: bool = False  # the user's branch moves for outcome unverified too
    dry_run: bool = False
    budget_run_usd: float | None = None
    budget_task_usd: float | None = None
    limits: Limits = field(default_factory=Limits)
    retries: Retries = field(default_factory=Retries)
    protected: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    sandbox: SandboxSettings = field(default_factory=SandboxSettings)
    outward: Integrations = field(default_factory=Integrations)  # notices and telemetry

    @property
    def sets_up_by_itself(self) -> bool:
        """Whether sq decides how worktrees are made ready, because no commands are listed for it."""
        return self.set_up is SetUp.AUTO and not self.worktree_setup

    @property
    def places(self) -> int:
        """How many tasks may be under way at once: in the checkout itself only one."""
        return self.max_parallel if self.worktrees else 1
