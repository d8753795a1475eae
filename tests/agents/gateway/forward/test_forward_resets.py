"""When the API can be asked again, from the headers of an answer."""

import pytest
from upstreams import answers, forwarding

from agents.gateway.forward.passing import reset_in

NOW = 1_800_000_000.0
LATER = "2027-01-15T08:00:30Z"  # NOW + 30 s
LIMIT = "anthropic-ratelimit-"


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    {
        "the API's own word": (429, {"retry-after": "12"}, 12),
        "with a part of a second": (529, {"retry-after": "0.5"}, 0.5),
        "at once": (429, {"retry-after": "0"}, 0),
        "as a date": (503, {"retry-after": "Fri, 15 Jan 2027 08:00:30 GMT"}, 30),
        "a limit that is used up": (
            429,
            {f"{LIMIT}tokens-remaining": "0", f"{LIMIT}tokens-reset": LATER},
            30,
        ),
        "of two the one that ends last": (
            429,
            {
                f"{LIMIT}requests-remaining": "0",
                f"{LIMIT}requests-reset": "2027-01-15T08:00:05Z",
                f"{LIMIT}input-tokens-remaining": "0",
                f"{LIMIT}input-tokens-reset": LATER,
            },
            30,
        ),
        "the word before the limits": (
            429,
            {"retry-after": "3", f"{LIMIT}tokens-remaining": "0", f"{LIMIT}tokens-reset": LATER},
            3,
        ),
        "a unified limit": (
            429,
            {f"{LIMIT}unified-status": "rejected", f"{LIMIT}unified-reset": f"{NOW + 3600:.0f}"},
            3600,
        ),
        "a window of a unified limit": (
            429,
            {
                f"{LIMIT}unified-5h-status": "rejected",
                f"{LIMIT}unified-5h-reset": f"{NOW + 90:.0f}",
                f"{LIMIT}unified-7d-status": "allowed",
                f"{LIMIT}unified-7d-reset": f"{NOW + 9000:.0f}",
            },
            90,
        ),
    }.values(),
)
def test_a_time_that_the_api_names_is_read(status, headers, seconds):
    assert reset_in(status, headers, now=NOW) == pytest.approx(NOW + seconds)


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (429, {}),
        (500, {f"{LIMIT}tokens-remaining": "0", f"{LIMIT}tokens-reset": LATER}),
        (429, {f"{LIMIT}tokens-remaining": "4000", f"{LIMIT}tokens-reset": LATER}),
        (429, {"retry-after": "soon"}),
        (429, {"retry-after": "nan"}),
        (429, {"retry-after": "inf"}),
        (429, {"retry-after": "-5"}),
        (429, {f"{LIMIT}tokens-remaining": "0", f"{LIMIT}tokens-reset": "tomorrow"}),
        (429, {f"{LIMIT}unified-status": "rejected"}),
    ],
)
def test_without_one_there_is_none(status, headers):
    assert reset_in(status, headers, now=NOW) is None


async def test_a_session_knows_the_time_until_an_answer_comes_again():
    api = answers(b"{}", 429, retry_after="60")
    async with forwarding(api) as desk:
        await desk.post()
        assert desk.session.resets_at is not None
        api.answer = answers(b"{}").answer
        await desk.post()
        assert desk.session.resets_at is None
