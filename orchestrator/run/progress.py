"""Whether a loop moves, measured on content: trees and failures, never on words or counts of events."""

from collections.abc import Sequence

MAX_REFUSALS = 5  # blocks of the completion gates in a row
SAME_FAILURE = 3  # the same failures that often


def standing_still(trees: Sequence[str], threshold: int) -> bool:
    """Whether the tree has been the same at the end of the last `threshold` iterations and one before."""
    newest = trees[-(threshold + 1) :]
    return len(newest) > threshold and len(set(newest)) == 1


def refused_too_often(fingerprints: Sequence[str]) -> str:
    """Why a claim that keeps being refused is given up; empty while it is not.

    `fingerprints` tell the refusals of one attempt apart, oldest first: equal ones are the same failures.
    """
    if len(fingerprints) >= SAME_FAILURE and len(set(fingerprints[-SAME_FAILURE:])) == 1:
        return f"completion was refused {SAME_FAILURE} times for the same reason"
    if len(fingerprints) >= MAX_REFUSALS:
        return f"completion was refused {MAX_REFUSALS} times in a row"
    return ""
