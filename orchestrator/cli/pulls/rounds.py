"""The rounds of `sq follow`: read what is asked, run on the branch of the pull request, push, answer.

Every step looks first for what it would do, so that it can be repeated after any interruption.
"""

import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from agents.session.permissions import rule_names
from orchestrator.cli.runs.plans import kept_spec
from orchestrator.cli.runs.request import GoOn, RunEnvironment, RunRequest
from orchestrator.cli.version import sq_version
from orchestrator.git.command import git, git_succeeds
from orchestrator.git.repository import find_repository
from orchestrator.git.workspace import run_branch
from orchestrator.hosting.asked import (
    ReviewPoint,
    ReviewState,
    Told,
    answers_mark,
    points_in,
    review_state,
    round_in,
    round_spec,
    told_in,
)
from orchestrator.hosting.github import GitHub, PullRequest
from orchestrator.hosting.handing_over import as_pusher
from orchestrator.hosting.issue_spec import without_files
from orchestrator.hosting.remote import AccessToken, Remote, api_address, find_remote, numbered, take_token
from orchestrator.hosting.service import HostingError, Service, UnsureError
from orchestrator.views.report.sections import code
from orchestrator.views.screen import say
from state.errors import GitError, JournalError, UsageError
from state.hidden import visible
from state.journal.events import PullRequestMade, RunStarted, SignalReceived, SpecTaken
from state.journal.events.tasks import UNMERGED_ENDS
from state.journal.fold.fold import fold
from state.journal.store import JournalReader
from state.journal.view import RunView
from state.outcome import Outcome
from state.paths import StateFolder, worktree_root
from state.records.calls import TASK_COMPLETE
from state.settings.config import load_config
from state.settings.sources import Flags
from state.words import decision_with_reason

_PAUSE_S, _LONGEST_PAUSE_S = 30.0, 300.0
_TRIES = 3
_LATE_LOOKS = 4


@dataclass(frozen=True, kw_only=True)
class FollowRequest:
    """What was asked of `sq follow`. `watch_s`: how long to go on looking, 0 for one look.

    `environment` makes that of a run, after the token was taken out of this process's. `new` and `again` work
    on a run, `hand_over` pushes its work and brings the pull request up to date.
    """

    named: str
    checkout: Path
    state: Path
    flags: Flags
    rehearse: Path | None
    watch_s: float
    environment: Callable[..., RunEnvironment]
    new: Callable[[RunRequest, RunEnvironment], Outcome]
    again: Callable[[Path, RunEnvironment, GoOn], Outcome]
    hand_over: Callable[[Path, AccessToken], Awaitable[object]]
    environ: MutableMapping[str, str] = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class _Place:
    """Where the pull request is: its checkout, remote, token, address of the service."""

    root: Path
    remote: Remote
    token: AccessToken
    address: str
    number: int

    @asynccontextmanager
    async def github(self) -> AsyncIterator[GitHub]:
        """Provide the service, for requests about this repository."""
        async with Service.at(self.address, self.token, agent=f"sq/{sq_version()}") as service:
            yield GitHub(service=service, repository=self.remote.repository)


@dataclass(frozen=True, kw_only=True)
class _Before:
    """The runs on a pull request before: the first one's id, and the newest one's folder and view."""

    origin: str
    folder: Path
    view: RunView
    own: frozenset[str]  # commits that sq pushed
    decisions: tuple[str, ...]  # of all of them

    @property
    def points(self) -> list[str]:
        """Return the keys of the points that the newest run is about, none if it is the first."""
        started = self.view.started
        return points_in(started.spec_text) if started and self.view.plan.origin.follows else []


def work_on(asked: FollowRequest) -> Outcome:
    """Work on a pull request until nothing is asked for, a limit is reached, or a person takes it up.

    Raises:
        UsageError: it is no pull request of a run of this state folder.
        SqError: the service or the remote refused.
    """
    place = anyio.run(_placed, asked)
    rounds = load_config(place.root, asked.environ, rules=rule_names()).settings.follow_rounds
    until, etag, pause = time.monotonic() + asked.watch_s, "", _PAUSE_S
    outcome, worked, late = Outcome.COMPLETE, False, 0
    while True:
        before = _before(asked.state, place)
        look = anyio.run(_looked, place, before)
        if look.over:
            say(f"pull request #{place.number}: {look.over}")
            return Outcome.STUCK if look.is_open_question else outcome
        if look.talk.asked:
            if look.talk.rounds >= rounds:
                left = f"{len(look.talk.asked)} point(s) are open after {rounds} round(s) (follow.rounds)"
                say(f"pull request #{place.number}: {left}, so a person goes on")
                return Outcome.STUCK
            points = {one.key for one in look.talk.asked}
            if worked and points.issubset(before.points):
                late += 1  # the service may show what it was sent a little later
                if late > _LATE_LOOKS:
                    named = ", ".join(sorted(points))
                    raise HostingError(f"the answers to {named} do not appear on the service")
                time.sleep(late)
                continue
            outcome, worked = _round(asked, place, before, look), True
            if outcome in {Outcome.LIMIT, Outcome.INTERRUPTED, Outcome.FAILED}:
                return outcome
            continue
        if not asked.watch_s:
            waiting = f", {look.talk.waiting} check(s) are under way" if look.talk.waiting else ""
            say(f"pull request #{place.number}: nothing is asked for{waiting}")
            return outcome
        etag, pause, over = anyio.run(_wait, place, etag, pause, until)
        if over:
            say(f"pull request #{place.number}: watched until now, and it is open")
            return outcome


@dataclass(frozen=True, kw_only=True)
class _Look:
    pull_request: PullRequest
    talk: ReviewState
    over: str = ""
    is_open_question: bool = False


async def _placed(asked: FollowRequest) -> _Place:
    repository = await find_repository(asked.checkout)
    remote = await find_remote(repository.root, repository.branch, asked.environ)
    named = numbered(asked.named, remote.repository)
    if named.repository != remote.repository:
        raise UsageError(
            f"{named} is in another repository than this checkout ({remote.repository.slug}): go to a "
            "checkout of it"
        )
    address = api_address(remote.repository.host, asked.environ)
    token = take_token(remote.repository.host, asked.environ)
    return _Place(root=repository.root, remote=remote, token=token, address=address, number=named.number)


def _before(state: Path, place: _Place) -> _Before:
    """Return the runs of the state folder on this pull request.

    Raises:
        UsageError: none made it.
    """
    runs = StateFolder(state).runs
    origin, own, ours = "", set[str](), list[Path]()
    for run_id in StateFolder(state).run_ids():
        follows, commits = _traces(runs / run_id, place)
        if commits or (origin and follows == origin):
            origin = origin or follows or run_id
            own |= commits
            ours.append(runs / run_id)
    if not ours:
        raise UsageError(
            f"pull request #{place.number} was made by no run in {state}, so there is no plan to build on. "
            "Name the state folder of its run with --state-dir"
        )
    views = [_folded(run) for run in ours]
    decisions = (decision_with_reason(answer) for view in views for _, answer in view.decided())
    return _Before(
        origin=origin, folder=ours[-1], view=views[-1], own=frozenset(own), decisions=tuple(decisions)
    )


def _traces(run: Path, place: _Place) -> tuple[str, set[str]]:
    """Return the run that a run follows, and its commits that were pushed to the pull request."""
    try:
        with JournalReader(run) as journal:
            events = [one.event for one in journal.read(only=(SpecTaken, PullRequestMade))]
    except JournalError:  # of another run, it may be damaged
        return "", set()
    here = (place.remote.repository.slug, place.number)
    made = [one for one in events if isinstance(one, PullRequestMade)]
    commits = {one.commit for one in made if (one.repository, one.number) == here}
    return next((one.follows for one in events if isinstance(one, SpecTaken)), ""), commits


def _folded(run: Path) -> RunView:
    with JournalReader(run) as journal:
        return fold(journal.read())


async def _looked(place: _Place, before: _Before) -> _Look:
    async with place.github() as github:
        pull_request = await github.pull_request(place.number)
        talk = await review_state(github, pull_request)
    for one in talk.others:
        say(f"{one.author} may not write here, so this is only shown ({one.url}): {visible(one.text[:300])}")
    over, is_open_question = "", False
    if pull_request.merged or pull_request.state != "open":
        over = "it is merged" if pull_request.merged else "it is closed"
    elif pull_request.head not in {*before.own, before.view.whole.commit}:
        pushed = f"{pull_request.head[:10]} to {pull_request.head_branch}"
        over = f"somebody else has pushed {pushed}, so sq leaves it to them"
        is_open_question = bool(talk.asked)
    return _Look(pull_request=pull_request, talk=talk, over=over, is_open_question=is_open_question)


async def _wait(place: _Place, etag: str, pause: float, until: float) -> tuple[str, float, bool]:
    """Wait until something changed. The service's own hints say how long each pause is."""
    async with place.github() as github:
        while time.monotonic() < until:
            etag_now, hint, changed = await github.changed_since(place.number, etag)
            if changed and etag:
                return etag_now, _PAUSE_S, False
            etag = etag_now
            pull_request = await github.pull_request(place.number)
            failed, _ = await github.failed_checks(pull_request.head)
            if failed or pull_request.state != "open":
                talk = await review_state(github, pull_request)
                if talk.asked or pull_request.state != "open":
                    return etag, _PAUSE_S, False
            await anyio.sleep(min(hint or pause, max(0.0, until - time.monotonic())))
            pause = min(pause * 1.5, _LONGEST_PAUSE_S)
    return etag, pause, True


def _round(asked: FollowRequest, place: _Place, before: _Before, look: _Look) -> Outcome:
    """Run once on what is asked, push, bring the pull request up to date, and answer.

    A round that was interrupted, or not answered to its end, is gone on with.
    """
    around = asked.environment(known=place.token.known)
    folder, ended = before.folder, before.view.ended
    failed = [id_ for id_, task in before.view.tasks.items() if task.stage in UNMERGED_ENDS]
    is_lost = bool(ended and not ended.resumable and ended.outcome is Outcome.FAILED and not failed)
    if is_lost or not any(one.key in before.points for one in look.talk.asked):
        checkout = anyio.run(_checked_out, place, before, look.pull_request)
        outcome = asked.new(_request(asked, place, before, look, checkout), around)
        folder = StateFolder(asked.state).find(None)
    elif ended and not ended.resumable and ended.outcome is not Outcome.FAILED:
        outcome = ended.outcome
    else:
        outcome = asked.again(folder, around, GoOn(retry=tuple(failed) if ended else ()))
    view = _folded(folder)
    if view.ended is None or view.ended.resumable or outcome is Outcome.FAILED:
        say(f"pull request #{place.number}: nothing is answered yet. Go on with `sq follow {place.number}`")
        return outcome
    if view.whole.tree:
        anyio.run(asked.hand_over, folder, place.token)
    anyio.run(_answered, place, view, folder, look)
    points = points_in(view.started.spec_text) if view.started else []
    answered = f"{sum(one.key in points for one in look.talk.asked)} point(s): {look.pull_request.url}"
    say(f"pull request #{place.number}: pushed and answered {answered}")
    anyio.run(_tidied, place, before)
    return outcome


def _request(asked: FollowRequest, place: _Place, before: _Before, look: _Look, checkout: Path) -> RunRequest:
    """Return the run of a round: on the branch, with the settings and the decisions of the runs before."""
    view = before.view
    first = _first_spec(asked.state, before)
    round_ = look.talk.rounds + 1
    tasks = [task.task.title for task in view.tasks.values()]
    text = round_spec(first, before.decisions, tasks, look.talk.asked, place.number, round_)
    spec = kept_spec(asked.state, f"pull-{place.number}-round-{round_}", text.encode())
    kept: dict[str, tuple[str, object]] = {}
    if view.settings:
        kept["effort"] = ("--effort", view.settings.effort.name)
        kept["verify"] = ("--verify", view.settings.verify)
    return RunRequest(
        spec=spec,
        folder=checkout,
        origin=SpecTaken(
            issue=view.plan.origin.issue,
            follows=before.origin,
            instructed_at=view.plan.origin.instructed_at or _base_of(view),
        ),
        notes=(f"round {round_} of pull request #{place.number}: {len(look.talk.asked)} point(s)",),
        flags={**kept, **asked.flags},
        rehearse=asked.rehearse,
        state_dir=asked.state,
        configured_in=place.root,
    )


def _base_of(view: RunView) -> str:
    return view.started.base_commit if view.started else ""


def _first_spec(state: Path, before: _Before) -> str:
    with JournalReader(StateFolder(state).runs / before.origin) as journal:
        started = journal.read(only=(RunStarted,))[0].event
    return without_files(started.spec_text) if isinstance(started, RunStarted) else ""


async def _checked_out(place: _Place, before: _Before, pull_request: PullRequest) -> Path:
    """Return a worktree of the branch of the pull request, at its newest commit.

    Raises:
        UsageError: the branch here holds work that is not in the pull request.
    """
    branch = run_branch(before.origin)
    reference = f"refs/heads/{branch}"
    settings, environment = await as_pusher(place.root, place.remote, place.token)
    await git(
        place.root, "fetch", "--no-tags", "--quiet", place.remote.name, reference,
        settings=settings, environment=environment,
    )  # fmt: skip
    folder = worktree_root(place.root, f"{before.origin}-follow")
    await git(place.root, "worktree", "prune")
    try:
        here = await git(place.root, "rev-parse", "--verify", "--quiet", reference)
    except GitError:
        here = ""
    if here and not await git_succeeds(place.root, "merge-base", "--is-ancestor", here, pull_request.head):
        raise UsageError(
            f"the branch {branch} here holds commits that pull request #{place.number} does not have. "
            f"Push them, or remove the branch with `git branch -D {branch}`"
        )
    if folder.is_dir():
        await git(folder, "merge", "--ff-only", "--quiet", pull_request.head)
        return folder
    await git(place.root, "update-ref", reference, pull_request.head)
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    await git(place.root, "worktree", "add", "--quiet", str(folder), branch)
    return folder


async def _tidied(place: _Place, before: _Before) -> None:
    """Remove the worktree of the branch. What is uncommitted in it keeps it."""
    folder = worktree_root(place.root, f"{before.origin}-follow")
    if folder.is_dir():
        await git_succeeds(place.root, "worktree", "remove", str(folder))


async def _answered(place: _Place, view: RunView, folder: Path, look: _Look) -> None:
    """Answer each point that has no answer yet. Where no answer of the service comes, it is looked for."""
    told = _told(folder)
    spec = view.started.spec_text if view.started else ""
    points, round_ = points_in(spec), round_in(spec)
    async with place.github() as github:
        for one in (one for one in look.talk.asked if one.key in points):
            text = answers_mark(one.key, round_) + _answer(view, one, told.get(1 + points.index(one.key)))
            await _answered_once(github, look.pull_request, one, text)


async def _answered_once(github: GitHub, pull_request: PullRequest, asked: ReviewPoint, text: str) -> None:
    """Post an answer. Where no answer of the service comes, it is looked for before it is posted again."""
    for left in reversed(range(_TRIES)):
        try:
            await github.answer(pull_request.number, asked.remark, text)
        except UnsureError:
            if asked.key in (await review_state(github, pull_request)).answered:
                return
            if not left:
                raise
        else:
            return


def _told(folder: Path) -> dict[int, Told]:
    with JournalReader(folder) as journal:
        signals = [one.event for one in journal.read(only=(SignalReceived,))]
    notes = (
        str(json.loads(one.payload).get("notes") or "")
        for one in signals
        if isinstance(one, SignalReceived) and one.name.endswith(TASK_COMPLETE)
    )
    found: dict[int, Told] = {}
    for one in notes:
        found |= told_in(one)
    return found


def _answer(view: RunView, asked: ReviewPoint, told: Told | None) -> str:
    """Return the answer to a point. Words of agents stand in code spans."""
    run_id = view.started.run_id if view.started else ""
    outcome = view.ended.outcome if view.ended else Outcome.INTERRUPTED
    cause = f": {code(view.ended.cause)}" if view.ended and view.ended.cause else ""
    about = f"\n\nAbout {asked.url}" if asked.remark is None or asked.remark.kind != "line" else ""
    ended = "" if outcome is Outcome.COMPLETE else f"\n\n<sub>Run {run_id} ended {outcome}{cause}.</sub>"
    end = f"{ended}{about}\n"
    check = "" if asked.remark else f"{code(asked.name)}: "
    words = f" The Worker says: {code(told.words)}" if told and told.words else ""
    if not view.whole.tree:
        return f"{check}Nothing was changed.{words}{end}"
    if told is None:
        newest = view.whole.commit[:10]
        return f"{check}Not answered by the Worker. The newest commit of this round is {newest}.{end}"
    if told.changed:
        return f"{check}Changed in {view.whole.commit[:10]}.{words}{end}"
    return f"{check}Not changed.{words or ' No reason was given.'}{end}"
