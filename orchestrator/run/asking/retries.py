"""Trying again: what may pass is met with waits, what will not ends at once.

sq alone does this; the CLI and the API client do not retry. Whoever asks a model first waits until the time
that the newest failure named for everybody (`RunView.quiet_until`). A reset time that the API itself names is
waited for several times, and an expired login until it holds again, unless the run's time ends before.
Waits end by the clock on the wall, so that a machine that slept meanwhile goes on at once.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import anyio
from tenacity import AsyncRetrying, RetryCallState, retry_if_result
from tenacity.wait import wait_exponential_jitter

from agents.access import Credentials
from state.api_errors import Answer, answer_to, named_wait, told
from state.errors import AgentError
from state.journal.events import CallRetried, call_retried
from state.journal.view import RunView
from state.records.calls import CallEnd, CallResult, may_pass_later
from state.settings.records import Retries

_UNAUTHORIZED = 401
_REFUSED = {_UNAUTHORIZED, 403}
_FEW = {CallEnd.SILENT: 1, CallEnd.NOT_STARTED: 2}  # how often these are tried again, at most
_LOOK_S = 5.0  # a wait looks at the clock so often
_JITTER = 0.25  # of the first wait, so that sessions do not come back in step


T = TypeVar("T", bound=CallResult)


class ServiceError(AgentError):
    """The model cannot be asked, whatever the task: the run stops here, and can be resumed."""


class ResetTooLateError(ServiceError):
    """The API answers again only after the run's deadline: what is merged is handed over."""


def may_pass(tried: CallResult, view: RunView) -> bool:
    """Whether the same call may go well in a while."""
    match tried.end:
        case CallEnd.API_ERROR if _is_expired(tried, view):
            return True
        case CallEnd.API_ERROR if answer := answer_to(tried.api_code):
            return answer is not Answer.END
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
    over = datetime.now(UTC)  # the end of the newest wait

    def note(state: RetryCallState) -> None:
        nonlocal over
        failed: CallResult = _result(state)
        wait_s = state.upcoming_sleep
        over = datetime.now(UTC) + timedelta(seconds=wait_s)
        resets_at = over if _is_reset(failed, retries) else None
        record(call_retried(call_id, failed, wait_s=wait_s, resets_at=resets_at))

    retrying = AsyncRetrying(
        retry=retry_if_result(lambda tried: may_pass(tried, view)),
        stop=lambda state: _is_enough(_result(state), retries, view.calls[call_id].retries, view),
        wait=lambda state: _wait(state, retries, view),
        sleep=lambda _: until(over),
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
    while (at := view.process.quiet_until) and at > datetime.now(UTC):
        await until(at)


async def until(at: datetime) -> None:
    """Wait until this time on the wall, at most `_LOOK_S` too long after the machine slept."""
    while (left := (at - datetime.now(UTC)).total_seconds()) > 0:  # noqa: ASYNC110  a time is waited for
        await anyio.sleep(min(left, _LOOK_S))


def raise_if_hopeless(tried: CallResult, view: RunView) -> None:
    """Stop the run where no other call would fare better.

    Raises:
        ServiceError: the credentials are refused, or the API cannot be reached for good.
    """
    answer = answer_to(tried.api_code)
    if answer is Answer.END:
        raise ServiceError(told(tried.api_code, tried.detail, view.agent))
    if tried.api_status in _REFUSED:
        raise ServiceError(
            f"the API refuses the credentials (status {tried.api_status}): {tried.detail}. "
            f"Check ANTHROPIC_API_KEY or sign in to {view.agent} again, then resume the run"
        )
    if tried.end is not CallEnd.API_ERROR or not may_pass(tried, view):
        return
    if (deadline := view.process.deadline) and (named := _named_s(tried)):
        at = datetime.now(UTC) + timedelta(seconds=named)
        if at > deadline:
            resets = f"the API answers again at {at.astimezone():%Y-%m-%d %H:%M}"
            raise ResetTooLateError(f"{resets}, after the run's deadline: {tried.detail}")
    if answer:
        raise ServiceError(told(tried.api_code, tried.detail, view.agent))
    raise ServiceError(f"the API could not be asked, several times: {tried.detail}")


def _named_s(failed: CallResult) -> float:
    """Return the seconds until the API answers again, by its header or the error's code, 0 if unknown."""
    return failed.retry_after_s or named_wait(failed.api_code, datetime.now(UTC)) or 0.0


def _is_reset(failed: CallResult, retries: Retries) -> bool:
    """Whether the API named the end of a limit, which is further away than any wait of sq's own."""
    return _named_s(failed) > retries.longest_wait_s


def _is_expired(failed: CallResult, view: RunView) -> bool:
    """Whether a login of the agent has expired. A key that is refused is refused for good."""
    by_login = view.started is not None and view.started.credentials == Credentials.CLI_LOGIN
    return by_login and failed.api_status == _UNAUTHORIZED


def _is_enough(failed: CallResult, retries: Retries, earlier: list[CallRetried], view: RunView) -> bool:
    wait_s = _least_wait(failed, retries, view)
    deadline = view.process.deadline
    if deadline and datetime.now(UTC) + timedelta(seconds=wait_s) > deadline:
        return wait_s > retries.longest_wait_s
    if _is_expired(failed, view):
        waited = sum(one.wait_s for one in earlier if one.api_status == _UNAUTHORIZED)
        return not deadline and waited > retries.longest_reset_s
    if _is_reset(failed, retries):
        named = _named_s(failed)
        too_far = named > retries.longest_reset_s and not deadline
        return too_far or sum(one.resets_at is not None for one in earlier) >= retries.resets
    waits = [one.resets_at is not None for one in earlier if one.end is not CallEnd.BUDGET]
    since = waits[::-1].index(True) if True in waits else len(waits)  # tries since the newest reset
    return since >= min(_FEW.get(failed.end, retries.tries), retries.tries)


def _least_wait(failed: CallResult, retries: Retries, view: RunView) -> float:
    """Return how long to wait at least, in seconds."""
    if _is_expired(failed, view):
        return retries.login_s
    slack = retries.reset_slack_s if _is_reset(failed, retries) else 0.0
    return _named_s(failed) + slack


def _wait(state: RetryCallState, retries: Retries, view: RunView) -> float:
    growing = wait_exponential_jitter(
        multiplier=retries.first_wait_s, max=retries.longest_wait_s, jitter=retries.first_wait_s * _JITTER
    )
    failed: CallResult = _result(state)
    return max(_least_wait(failed, retries, view), growing(state))


def _result(state: RetryCallState) -> T:  # type: ignore[type-var]
    assert state.outcome is not None  # noqa: S101  asked only after a try
    return state.outcome.result()  # type: ignore[no-any-return]
