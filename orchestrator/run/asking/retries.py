"""Trying again: what may pass is met with waits, what will not ends at once.

sq alone does this; the CLI and the API client do not retry. Whoever asks a model first waits until the time
that the newest failure named for everybody (`RunView.quiet_until`). A reset time that the API itself names is
waited for once; the same answer after it is the end.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TypeVar

import anyio
from tenacity import AsyncRetrying, RetryCallState, retry_if_result
from tenacity.wait import wait_exponential_jitter

from state.errors import AgentError
from state.journal.events import CallRetried, call_retried
from state.journal.view import RunView
from state.records.calls import CallEnd, CallResult, may_pass_later
from state.settings.records import Retries

_REFUSED = {401, 403}
_FEW = {CallEnd.SILENT: 1, CallEnd.NOT_STARTED: 2}  # how often these are tried again, at most
_JITTER = 0.25  # of the first wait, so that sessions do not come back in step


T = TypeVar("T", bound=CallResult)


class ServiceError(AgentError):
    """The model cannot be asked, whatever the task: the run stops here, and can be resumed."""


def may_pass(tried: CallResult) -> bool:
    """Whether the same call may go well in a while."""
    match tried.end:
        case CallEnd.API_ERROR:
            return tried.api_status is None or may_pass_later(tried.api_status)
        case CallEnd.DIED | CallEnd.NOT_STARTED | CallEnd.SILENT | CallEnd.INTERRUPTED:
            return True  # interrupted from outside: where sq itself stops a call, nobody asks
        case _:
            return False


async def persistently(
    try_once: Callable[[int], Awaitable[T]],
    *,
    call_id: str,
    view: RunView,
    retries: Retries,
    record: Callable[[CallRetried], None],
) -> T:
    """Return a call's result: the first that is good or hopeless, or the last one.

    Args:
        try_once: makes the try of this number, from 1.
        call_id: the call that is tried.
        view: the run as it is at each moment.
        retries: how often, and how long to wait.
        record: stores a failed try.
    """

    def note(state: RetryCallState) -> None:
        failed: CallResult = _result(state)
        record(call_retried(call_id, failed, wait_s=state.upcoming_sleep))

    retrying = AsyncRetrying(
        retry=retry_if_result(may_pass),
        stop=lambda state: _is_enough(state, retries, view.calls[call_id].retries),
        wait=lambda state: _wait(state, retries),
        sleep=anyio.sleep,
        before_sleep=note,
        retry_error_callback=_result,
    )
    number = 0

    async def one() -> T:
        nonlocal number
        number += 1
        await quiet(view)
        return await try_once(number)

    result: T = await retrying(one)
    return result


async def quiet(view: RunView) -> None:
    """Wait until nobody has to wait any more; another call's failure may prolong it meanwhile."""
    while (left := _left(view)) > 0:  # noqa: ASYNC110  a time is waited for, not an event
        await anyio.sleep(left)


def _left(view: RunView) -> float:
    until = view.process.quiet_until
    return (until - datetime.now(UTC)).total_seconds() if until else 0.0


def raise_if_hopeless(tried: CallResult) -> None:
    """Stop the run where no other call would fare better.

    Raises:
        ServiceError: the credentials are refused, or the API cannot be reached for good.
    """
    if tried.api_status in _REFUSED:
        raise ServiceError(
            f"the API refuses the credentials (status {tried.api_status}): {tried.detail}. "
            "Check ANTHROPIC_API_KEY or sign in to Claude Code again, then resume the run"
        )
    if tried.end is CallEnd.API_ERROR and may_pass(tried):
        raise ServiceError(f"the API could not be asked, several times: {tried.detail}")


def _is_enough(state: RetryCallState, retries: Retries, earlier: list[CallRetried]) -> bool:
    failed: CallResult = _result(state)
    named = failed.retry_after_s
    if named is not None and named > retries.longest_wait_s:  # a limit that ends at a time: once, if near
        waited = any(one.wait_s > retries.longest_wait_s for one in earlier)
        return waited or named > retries.longest_reset_s
    return state.attempt_number > min(_FEW.get(failed.end, retries.tries), retries.tries)


def _wait(state: RetryCallState, retries: Retries) -> float:
    growing = wait_exponential_jitter(
        multiplier=retries.first_wait_s, max=retries.longest_wait_s, jitter=retries.first_wait_s * _JITTER
    )
    failed: CallResult = _result(state)
    return max(failed.retry_after_s or 0.0, growing(state))


def _result(state: RetryCallState) -> T:  # type: ignore[type-var]
    assert state.outcome is not None  # noqa: S101  asked only after a try
    return state.outcome.result()  # type: ignore[no-any-return]
