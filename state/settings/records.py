"""The settings of a run: effort, models, limits, retries, policy. Resolved once, stored with the run.

These are plain records. `state.settings.config` finds their values.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Literal, get_args

from state.records.calls import Usage
from state.roles import Role
from state.settings.integrations import Integrations, is_variable
from state.settings.kinds import (
    ADDRESS,
    AMOUNT,
    ANONYMOUS,
    AUTHOR,
    BY_ITSELF,
    EXCLUSIVE,
    HOSTS,
    MOMENT,
    REGISTRIES,
    SERVICES,
    SET_UP,
    SWITCH,
    TITLE,
    VARIABLES,
    SetBy,
    ValueKind,
    or_empty,
    whole,
)

_VARIABLE = ValueKind('the name of a variable as "env:NAME"', is_variable, str.strip)


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
    Worker whose new tests pass without its change is sent back once. `block_unasked_work`: no code 0 if sq
    could not ask whether a test needs the work, and nothing else shows it.
    """

    name: str
    review_depth: ReviewDepth
    review_analysis: bool
    review_plan: bool
    checkpoint_every: Annotated[int, whole(0)]
    power_steering: Steering
    stuck_threshold: int
    revisions_per_task: Annotated[int, whole(0)]
    final_review_rounds: int
    budget_task_usd: float
    budget_run_usd: float
    models: dict[Role, str]
    block_unproven_tests: bool = False
    block_unasked_work: bool = False


# How much a model may think about one reply, as the API names it.
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

    def prices_of(self, usage: Usage) -> Prices | None:
        """Return the prices of a call with these tokens, or None if they are unknown."""
        return self.above if self.above and usage.prompt_tokens > self.above.prompt_tokens else self.prices

    def cost(self, usage: Usage) -> float:
        """Return the cost of a call with these tokens in USD, or 0 if the prices are unknown."""
        prices = self.prices_of(usage)
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

    max_iterations: Annotated[int, SetBy("exchanges with the Worker on one task", key="max_iterations")] = 50
    # Against an agent that only calls tools.
    max_turns: Annotated[int, SetBy("replies of the model in one exchange")] = 250
    idle_s: Annotated[float, SetBy("seconds of silence after which a session is ended")] = 300.0
    connect_s: Annotated[float, SetBy("seconds that an agent has to start")] = 60.0
    # One AskUserQuestion call, all its questions together (seed 004).
    question_s: Annotated[float, SetBy("seconds for the answers to one call with questions")] = 60.0
    verify_s: Annotated[
        float,
        SetBy(
            "seconds for a command without a result at the base. Others have five times their processor time "
            "there and ten times their time, and at least this"
        ),
    ] = 600.0
    silence_s: Annotated[
        float,
        SetBy("seconds without output and processor time that end a command, or twice those at the base"),
    ] = 60.0
    verify_total_s: Annotated[
        float, SetBy("seconds of all commands of the project after which sq asks no more of its tests")
    ] = 7_200.0
    run_s: Annotated[float | None, SetBy("seconds for the whole run")] = None
    deadline: Annotated[
        str,
        SetBy(
            "time (`07:00`, `2026-11-27T07:00`) or duration (`+8h`) by which verified work is merged and "
            "handed over, and the run ends",
            or_empty(MOMENT),
            key="deadline",
        ),
    ] = ""
    grace_s: Annotated[float, SetBy("seconds after SIGTERM in which verified work is merged", AMOUNT)] = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How failures of the API and of processes are retried. Waits are in seconds, doubling from the first."""

    # Together about six minutes.
    tries: Annotated[int, SetBy("further tries after a call that failed", whole(0))] = 10
    first_wait_s: Annotated[
        float, SetBy("seconds before the first of them; each next wait is twice as long", AMOUNT)
    ] = 0.5
    longest_wait_s: Annotated[float, SetBy("seconds that no wait exceeds", AMOUNT)] = 60.0
    longest_reset_s: Annotated[
        float, SetBy("seconds up to which a reset time that the API names is waited for", AMOUNT)
    ] = 21_600.0
    resets: Annotated[int, SetBy("resets that one call waits for, one after another", whole(0))] = 10
    reset_slack_s: Annotated[
        float,
        SetBy("seconds after a named reset before the API is asked again, because clocks differ", AMOUNT),
    ] = 120.0
    login_s: Annotated[
        float, SetBy("seconds between two tries while a login of the agent has expired", AMOUNT)
    ] = 60.0


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
            return (
                "sandbox: whole (agents and commands reach their workspace, the model and open hosts alone)"
            )
        commands = ", and whole around the commands that sq runs" if self.commands else ""
        return f"sandbox: {self.level}{commands} ({self.reason})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """How a process of sq holds agents: the way in which their processes are ended, and their sandbox.

    `key_exposed` says how agents could read the API key, if they could. `registries` are the hosts that the
    run's sandboxes may read, by the files of its base, and `signed_in` the addresses that are asked there
    with the user's credentials. `agent` is the name of the agent that works in sessions.
    """

    containment: str = ""
    agent: str = "the agent"
    sandbox: SandboxHeld | None = None
    key_exposed: str = ""
    registries: tuple[str, ...] = ()
    signed_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxLimits:
    """The most that everything in one sandbox may use. None: no limit.

    `processes` counts processes and threads, `memory_mb` all their memory together, `file_mb` each file, if
    the kernel offers such a limit. sq counts what one session or command writes (`total_mb`, `files`), and
    what a command prints (`output_mb`).
    """

    processes: Annotated[int | None, SetBy("processes and threads in one sandbox")] = 8_192
    memory_mb: Annotated[
        int | None, SetBy("MiB of memory of everything in the run's sandboxes, else half of the machine's")
    ] = None
    file_mb: Annotated[int | None, SetBy("MiB of one file written in a sandbox")] = 20_480
    total_mb: Annotated[int | None, SetBy("MiB that one session or command writes in its sandbox")] = 20_480
    files: Annotated[int | None, SetBy("files that one session or command makes in its sandbox")] = 2_000_000
    output_mb: Annotated[int | None, SetBy("MiB that one command in a sandbox prints")] = 2_048


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSettings:
    """The sandbox of agents and of the commands that sq runs on their work."""

    mode: Annotated[
        Sandbox,
        SetBy(
            "what holds agents and their work: bubblewrap (`whole`), the agent's own sandbox (`commands`), "
            "text rules alone (`off`), or the strongest that works here (`auto`); in a table: `sandbox.mode`",
            key="sandbox",
        ),
    ] = Sandbox.AUTO
    network: Annotated[
        CommandNetwork,
        SetBy(
            "network of verification commands in the sandbox: `none`, or `full`, which the report then says"
        ),
    ] = CommandNetwork.NONE
    hosts: Annotated[
        tuple[str, ...],
        SetBy(
            "hosts that agents and downloads of packages reach: `registries` (those of the project, for "
            "reading only), `anonymous-registries` (the same, never with your credentials), or a list. Of a "
            "host that you name anything goes through, also out. `[]`: none",
            HOSTS,
        ),
    ] = (REGISTRIES,)
    services: Annotated[
        tuple[str, ...],
        SetBy(
            'services that agents and verification reach, such as `["127.0.0.1:5432"]`: inside at the same '
            "port of 127.0.0.1",
            SERVICES,
        ),
    ] = ()
    limits: SandboxLimits = field(default_factory=SandboxLimits)

    @property
    def named_hosts(self) -> tuple[str, ...]:
        """Return the hosts that are named, beside the registries."""
        return tuple(one for one in self.hosts if one not in {REGISTRIES, ANONYMOUS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of a run. A budget of None sets no limit.

    `protected` are patterns of paths that no task may change, beside the shipped ones. `allowed` are names of
    rules in `agents/session/policy.yaml` that are off for this run. `included_by_file`: the patterns of
    `worktree_include` are those of `.worktreeinclude`.
    """

    effort: Effort
    models: dict[Role, Model]
    workflow: Annotated[
        Workflow,
        SetBy(
            "how the spec becomes work: planned as tasks (`orchestrated`), given to one Worker as it is "
            "(`direct`), or planned first and then implemented by one Worker (`plan-then-implement`)"
        ),
    ] = Workflow.ORCHESTRATED
    questions: Annotated[
        OnQuestion,
        SetBy("a question that cannot be undone and that the spec does not cover: `answer` or `park` it"),
    ] = OnQuestion.ANSWER
    # Seed 004, FR-004.
    context_window: Annotated[
        int, SetBy("newest messages of a session that the Developer sees", whole(0))
    ] = 10
    worktrees: Annotated[
        bool,
        SetBy(
            "tasks are built in git worktrees outside your checkout. Without: in the checkout itself, one at "
            "a time, and nothing is staged or committed there"
        ),
    ] = True
    max_parallel: Annotated[int, SetBy("tasks under way at once; without worktrees always 1")] = 4
    follow_rounds: Annotated[
        int, SetBy("rounds of `sq follow` on one pull request at most", key="follow.rounds")
    ] = 3
    worktree_include: Annotated[
        tuple[str, ...],
        SetBy(
            "patterns of files that git ignores and each worktree gets a copy of; not set: those of the "
            "commit's `.worktreeinclude`",
            key="worktree.include",
        ),
    ] = ()
    worktree_beside: Annotated[
        tuple[str, ...],
        SetBy(
            "folders beside the repository (`../lib`) and paths of your home (`~/.config/tool`) that set-up "
            "and verification may read, beside those that a manifest or lock file names",
            key="worktree.include_beside",
        ),
    ] = ()
    worktree_exclusive: Annotated[
        tuple[str, ...],
        SetBy(
            "commands that run with no other command of the run beside them, or `all`, for ports and "
            "services that worktrees share",
            EXCLUSIVE,
            key="worktree.exclusive",
        ),
    ] = ()
    worktree_variables: Annotated[
        tuple[str, ...],
        SetBy(
            'variables of verification commands with values of their own in each place: `PORT = "auto"` is a '
            'free port, and `DATABASE = "test_{place}"` has the name of the place in it',
            VARIABLES,
            key="worktree.variables",
        ),
    ] = ()
    commit_sign: Annotated[
        bool, SetBy("sq signs the commits of the work as git's settings say", key="commit.sign")
    ] = False
    commit_message: Annotated[
        str, SetBy("title of each commit, such as `feat: {title}`", TITLE, key="commit.message")
    ] = "{title}"
    commit_author: Annotated[
        str,
        SetBy(
            "author of the commits: `sq`, `user` (of git's settings) or `NAME <ADDRESS>`",
            AUTHOR,
            key="commit.author",
        ),
    ] = "sq"
    included_by_file: bool = False
    worker_mcp: Annotated[
        tuple[str, ...],
        SetBy(
            "names of servers of the commit's `.mcp.json` whose tools Workers get; they run in the sandbox",
            key="worker.mcp",
        ),
    ] = ()
    set_up: Annotated[
        SetUp | tuple[str, ...],
        SetBy(
            'how each new worktree is made ready: `"auto"`: by its lock files and manifests (`npm ci`, …); '
            'a list of commands; `"none"`',
            SET_UP,
            key="worktree.setup",
        ),
    ] = SetUp.AUTO
    merge: Annotated[bool, SetBy("at the end your branch is moved forward to the finished work")] = True
    merge_unverified: Annotated[
        bool, SetBy("your branch is moved for a run that ends with code 5 too, not for code 0 alone")
    ] = False
    verify: Annotated[
        tuple[str, ...], SetBy("commands that sq runs itself to verify; none: what the repository shows")
    ] = ()
    verify_also: Annotated[
        tuple[str, ...], SetBy("commands that sq runs to verify beside all others", key="verify.also")
    ] = ()
    gate_verify: Annotated[
        bool,
        SetBy(
            "the stop gate holds a session of yours while `sq verify` speaks against what it changed",
            key="gate.verify",
        ),
    ] = False
    gateway: Annotated[
        bool, SetBy("with an API key, sessions ask through a gateway of sq's and do not get the key")
    ] = True
    first_party: Annotated[
        bool | None,
        SetBy(
            "the agent behaves as at Anthropic's own address: `true`, `false`, or `auto`: if the API is "
            "there",
            BY_ITSELF,
            key="gateway.first_party",
        ),
    ] = None
    dry_run: bool = False
    base_setup: bool = False  # as `sq verify --base-setup` asks: no place is set up by what a work changed
    check_only: bool = False  # as `sq check` asks: the run ends with the questions about the spec
    approve: bool = False  # nothing is built before `sq approve`
    plan_to: str = ""  # as `--plan-only` asks: the file that gets the plan, with which the run ends
    check_wait_s: Annotated[
        float,
        SetBy(
            "seconds that a run on a terminal waits for answers to the questions about its spec, from each "
            "answer on anew; then the recommended options hold. Without a terminal it does not wait",
            AMOUNT,
            key="check.wait",
        ),
    ] = 60.0
    approve_wait_s: Annotated[
        float,
        SetBy(
            "seconds that `--approve` waits for `sq approve`; then the run ends with code 3, and "
            "`sq resume` waits again",
            key="approve.wait",
        ),
    ] = 43_200.0
    context: Annotated[
        tuple[str, ...],
        SetBy("folders outside the repository, such as checkouts of other projects, that agents may read"),
    ] = ()
    budget_run_usd: Annotated[
        float | None,
        SetBy(
            'USD for the whole run, every agent counted; `"none"`: no cap, for its tasks neither',
            key="budget",
            effort="budget_run_usd",
        ),
    ] = None
    budget_task_usd: Annotated[
        float | None,
        SetBy("USD for one task, never above that of the run", key="budget_task", effort="budget_task_usd"),
    ] = None
    limits: Limits = field(default_factory=Limits)
    retries: Retries = field(default_factory=Retries)
    sandbox: SandboxSettings = field(default_factory=SandboxSettings)
    integrations: Annotated[
        Integrations,
        SetBy(
            "a terminal rings and shows a notice at the end of a run that took more than a minute",
            SWITCH,
            key="bell",
            at=("bell",),
        ),
        SetBy(
            "address of an OTLP collector that gets the spans of runs, such as `http://localhost:4318`",
            or_empty(ADDRESS),
            key="telemetry.otlp",
            at=("telemetry", "otlp"),
        ),
        SetBy(
            "`env:NAME`: the variable with the headers that the collector wants, as `name=value,name=value`",
            or_empty(_VARIABLE),
            key="telemetry.headers",
            at=("telemetry", "headers"),
        ),
    ] = field(default_factory=Integrations)
    protected: Annotated[
        tuple[str, ...], SetBy("patterns of further paths that no task may change", key="policy.protected")
    ] = ()
    allowed: Annotated[
        tuple[str, ...],
        SetBy("names of [rules](../agents/session/policy.yaml) that do not hold", key="policy.allowed"),
    ] = ()

    @property
    def worktree_setup(self) -> tuple[str, ...]:
        """The listed commands that make each new worktree ready, if some are listed."""
        return () if isinstance(self.set_up, SetUp) else self.set_up

    @property
    def sets_up_by_itself(self) -> bool:
        """Whether sq decides how worktrees are made ready, because no commands are listed for it."""
        return self.set_up is SetUp.AUTO

    @property
    def places(self) -> int:
        """How many tasks may be under way at once: in the checkout itself only one."""
        return self.max_parallel if self.worktrees else 1
