"""What the checks say of a work that somebody gave: the exit code, and each reason for it."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from orchestrator.checks.names_of_tests import leaf_of
from orchestrator.checks.objecting import BASE_TESTS, CODE_BEFORE, WITHOUT_WORK
from orchestrator.checks.outcome import speaks_against, verdict
from orchestrator.checks.results.verdict import CommandVerdict, Judged
from orchestrator.run.evidence.objections import gaps_of_whole, policy_of, whole_results
from state.journal.view import RunView
from state.outcome import Outcome
from state.records.objections import Objection, Proof, Weight
from state.records.reviews import TestChangeKind
from state.words import listed

NOTHING_CHANGED = "nothing was changed, so there is nothing to ask"
_NAMED = 8
_LAST_LINES = 12  # of a failing command's output
_REASON = re.compile(  # why a test fails
    r"error|exception|expect|assert|panicked|cannot|not found|undefined|\b(?:got|want)\b|≠|!=", re.IGNORECASE
)
_TRAILER = re.compile(r"^Test-Changes:\s*(\S+?)(?:,)?\s+because\s+(.+)$", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """An objection as a reader of the work sees it.

    `id` names it with the content that it is about, so it is another one when that changes. `is_open`: it
    costs code 0. `explained`: what a commit says of it, which changes nothing. `accepted`: who let it go.
    """

    id: str
    objection: Objection
    is_open: bool
    explained: str = ""
    accepted: str = ""

    @property
    def sentence(self) -> str:
        """What was asked and seen."""
        if self.objection.weight is Weight.UNKNOWN:
            return f"it could not be found out {self.objection.words}"
        return self.objection.sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The end of a verification: its outcome, the reasons, and the proofs that speak for the work.

    `cause`: why nothing could be asked, "" if it could.
    """

    outcome: Outcome
    cause: str = ""
    reasons: tuple[Reason, ...] = ()
    proofs: tuple[Proof, ...] = ()
    only_prose: bool = False
    changed: int = 0

    @property
    def open(self) -> list[Reason]:
        """The reasons that cost code 0."""
        return [one for one in self.reasons if one.is_open and not one.accepted]

    @property
    def says(self) -> str:
        """The end in a line."""
        if self.cause:
            return self.cause
        match self.outcome:
            case Outcome.COMPLETE if self.only_prose:
                return "nothing speaks against this work. It has no code"
            case Outcome.COMPLETE if not any(one.needs_work for one in self.proofs):
                return (
                    "nothing speaks against this work. It has no function that could be taken out, so no "
                    "test was seen to need it"
                )
            case Outcome.COMPLETE:
                return "nothing speaks against this work, and at least one test needs it"
            case Outcome.FAILED:
                count = sum(speaks_against(one.objection) for one in self.open)
                return f"{count} {'thing speaks' if count == 1 else 'things speak'} against this work"
            case _:
                count = len(self.open)
                missing = "1 thing is" if count == 1 else f"{count} things are"
                return f"this work could not be shown to be right: {missing} missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Blobs:
    """The changed files of a work, each with its content at the base and now, "" for none."""

    files: Mapping[str, tuple[str, str]]

    def about(self, objection: Objection) -> str:
        """Return a digest of the changed files that an objection names, or of all if it names none."""
        named = {one.partition(": ")[0] for one in (objection.place, objection.subject, *objection.parts)}
        chosen = {one: content for one, content in self.files.items() if one in named} or self.files
        text = "\n".join(f"{name} {old} {new}" for name, (old, new) in sorted(chosen.items()))
        return hashlib.sha256(text.encode()).hexdigest()


def judged(
    view: RunView,
    blobs: Blobs,
    *,
    accepted: Mapping[str, str] | None = None,
    messages: Sequence[str] = (),
) -> Judgement:
    """Return what the checks say.

    Args:
        view: the run that tried the work.
        blobs: the changed files.
        accepted: ids of reasons that somebody let go, each with who it was.
        messages: those of the commits. A trailer explains a changed test, and costs or saves nothing.
    """
    settings = view.settings
    if settings is None:
        raise RuntimeError("a run has settings before it is judged")
    proofs = view.evidence.proofs.get(("", view.whole.tree))
    failed = {one.run.command: one for one in whole_results(view) if one.verdict is CommandVerdict.FAILED}
    # Nothing else vouches for a stranger's work, whatever the effort.
    demanding = policy_of(replace(settings.effort, block_unasked_work=True))
    policy = replace(demanding, costly=frozenset({CODE_BEFORE}))
    gaps = [_as_failure(one, failed) for one in gaps_of_whole(view, policy)]
    known = {one.id for one in gaps}
    gaps = _in_one(gaps)
    others = [one for one in (proofs.objections if proofs else ()) if one.id not in known]
    said = {name: why for text in messages for name, why in _TRAILER.findall(text)}
    reasons = [
        *(_reason(one, blobs, said, accepted or {}, is_open=True) for one in gaps),
        *(_reason(one, blobs, said, accepted or {}, is_open=False) for one in others),
    ]
    left = [one.objection for one in reasons if one.is_open and not one.accepted]
    return Judgement(
        outcome=verdict(left),
        reasons=tuple(reasons),
        proofs=proofs.proofs if proofs else (),
        only_prose=bool(proofs and proofs.only_prose),
        changed=len(blobs.files),
    )


def _in_one(gaps: Sequence[Objection]) -> list[Objection]:
    """Return the objections with one for all new tests that pass on the code before, if none says more."""
    alike = [one for one in gaps if one.check == CODE_BEFORE]
    others = [one for one in gaps if one.check != CODE_BEFORE]
    if not alike or any(one.check == WITHOUT_WORK for one in others):
        return others
    tests = [one.subject for one in alike]
    words = f"no new or changed test fails on the code before the change: {listed(tests[:_NAMED])}"
    remedy = (
        "Let one of them fail on the code as it was and pass with the change. If the change is to alter no "
        "behaviour, accept this by its name"
    )
    place = next((one.partition("::")[0] for one in tests if "::" in one), "")
    return [*others, replace(alike[0], words=words, remedy=remedy, place=place, parts=tuple(tests))]


def _as_failure(one: Objection, failed: Mapping[str, Judged]) -> Objection:
    """Return a command's failure as something that speaks against the work, with what it printed."""
    if one.weight is not Weight.UNVERIFIED or one.subject not in failed:
        return one
    seen = failed[one.subject]
    output = seen.run.failing_part or seen.run.output_tail
    named = f": {listed(seen.failing[:_NAMED])}" if seen.failing else f" ({seen.why})" if seen.why else ""
    return replace(
        one,
        against=True,
        words=f"`{one.subject}` fails with this work{named}",
        remedy=f"Run `{one.subject}`, and mend what fails there",
        place=next((one.partition("::")[0] for one in seen.failing if "::" in one), ""),
        evidence=telling_lines(output, seen.failing),
    )


def telling_lines(output: str, failing: Sequence[str]) -> str:
    """Return the end of an output. If that says no reason, the lines from the first of a failing test on."""
    lines = output.strip().splitlines()
    end = lines[-_LAST_LINES:]
    names = [leaf_of(one).partition("[")[0] for one in failing[:_NAMED]]
    first = next((at for at, line in enumerate(lines) if any(one in line for one in names)), None)
    if first is not None and not _REASON.search("\n".join(end)):
        return "\n".join(lines[first : first + _LAST_LINES])
    return "\n".join(end)


def _without_spec(one: Objection, name: str) -> Objection:
    """Return an objection in words that need no spec, with what to do if the change is meant."""
    if one.check == BASE_TESTS and one.against:
        return replace(
            one,
            words=one.words.replace(TestChangeKind.FAILS, "as it is at the base fails with this work"),
            place=one.place or (one.subject.partition("::")[0] if "::" in one.subject else ""),
            remedy="Let this test, as it is at the base, pass with the new code. If it is meant to change, "
            f"say so in a commit (`Test-Changes: {one.subject}, because …`), and let this go with --accept "
            f"{name}",
        )
    return replace(one, remedy=one.remedy.replace("the one that the spec asks for", "the right one"))


def _reason(
    one: Objection, blobs: Blobs, said: Mapping[str, str], accepted: Mapping[str, str], *, is_open: bool
) -> Reason:
    name = hashlib.sha256(f"{one.id}\n{blobs.about(one)}".encode()).hexdigest()[:12]
    return Reason(
        id=name,
        objection=_without_spec(one, name),
        is_open=is_open,
        explained=said.get(one.subject, ""),
        accepted=accepted.get(name, "") if is_open else "",
    )
