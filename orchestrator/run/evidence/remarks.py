"""What a run says of tests that its work changed, and of its proofs: to Workers, and how reviewers ruled."""

from orchestrator.checks.announced import are_explained, unannounced
from state.journal.events import ProofsTaken
from state.journal.events.tasks import TaskView
from state.journal.view import RunView
from state.records.reviews import TestChange
from state.words import later_words, listed, marks_words, stubs_words, untested, untested_words, wants_no_test


def changes_of(view: RunView, task: TaskView) -> list[TestChange]:
    """Return the changed tests of a task's committed work that nothing announces."""
    proofs = view.evidence.proofs.get((task.task.id, task.claim.committed_tree))
    return unannounced(proofs.changes) if proofs else []


def ruling_words(view: RunView, name: str) -> str:
    """Return in words how reviewers ruled on a changed test. A refusal outweighs the others."""
    rulings = [ruling for task in view.tasks.values() for ruling in task.review.rulings]
    rulings += view.whole.reviews[-1].tests if view.whole.reviews else ()
    ruled = [one for one in rulings if one.test == name and one.ruled]
    if not ruled:
        return "no reviewer ruled on it"
    last = next((one for one in ruled if not one.accepted), ruled[-1])
    return f"the reviewer {'accepts' if last.accepted else 'refuses'}: {last.why}"


def remarks_on(
    proofs: ProofsTaken, *, unproven: bool, without_tests: str, notes: str = "", spec: str = ""
) -> dict[str, str]:
    """Return what a Worker should hear once about its claim, by kind, "" where there is nothing.

    `unproven`: tests that pass without the work count too. `without_tests`: see `Task`. `notes` came with the
    claim. They may have the quote of the `spec` that a changed test needs.
    """
    alone = untested(proofs.without_work)
    alone = [] if wants_no_test(without_tests, alone) else alone
    later = proofs.facts.later if proofs.facts else ()
    tests = unannounced(proofs.changes)
    tests = [] if are_explained(tests, notes, spec) else tests
    changed = listed(f"{one.name} {one.kind}" for one in tests)
    only = "The run can then only end unverified"
    remarks = {
        "files that run later": later
        and f"{later_words(later)}. Put them back as they were, or claim completion again and say in "
        f"`notes` why the spec needs them. {only}.",
        "stubs": proofs.stubs
        and f"{stubs_words(proofs.stubs)}. Build it, or quote in `notes` the line of the spec by which it "
        f"stays so and claim completion again. {only}.",
        "no test without the work": alone
        and f"{untested_words(alone)}. So no test shows what this code does. Write one that calls the real "
        "code and compares its result with the one that the spec asks for. A test does not count if it "
        "patches the code, only logs, or accepts any result, for instance each one that is not null. If no "
        f"test can show the result, say why in `notes` and claim completion again. {only}, and the user's "
        "branch does not move.",
        "the runner's marks": proofs.marks
        and f"{marks_words(proofs.marks)}. Take it out, or claim completion again if the task needs it. "
        f"{only}.",
        "other results": proofs.unlike
        and f"{'; '.join(proofs.unlike)}. A test has to give the same result however it is run, and to fail "
        f"where it expects another one. Fix that, or claim completion again. {only}.",
        "tests that change": changed
        and f"These tests do not hold as they were before your work: {changed}. Put each back as it was, "
        "with all that it uses, and let the code pass it, unless the spec asks for another result. Leave "
        "such a test as it is now, claim completion again and quote its line in `notes`. The reviewer then "
        "rules on each, and a person looks at it at the end.",
        "unproven tests": unproven
        and proofs.unproven
        and "These tests that you added or changed pass without your change too, so they do not show it: "
        f"{listed(proofs.unproven)}. Make them fail on the code as it was, or claim completion again if "
        "there is a reason. The reviewer will look at it.",
    }
    return {kind: words or "" for kind, words in remarks.items()}
