"""How often a run has something done again before it gives up. No user sets these."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryLimits:
    """The most times of each kind, the first one included unless it says otherwise."""

    proposals: int = 3  # of an analysis or a plan: the first and two corrected ones
    unusable_reports: int = 2  # of a reviewer: it is asked once more, then given up
    answer_tries: int = 2  # an unusable answer is asked for once more, with what is wrong with it
    rejected_answers: int = 1  # to a question, which are made anew
    plain_questions: int = 3  # of a Worker in one attempt, asked in its text and not by the tool
    refusals: int = 5  # blocks of the completion gates in a row
    same_refusal: int = 3  # of these, for the same reason
    resolutions: int = 3  # of a conflict, before it is given up


RETRY_LIMITS = RetryLimits()
