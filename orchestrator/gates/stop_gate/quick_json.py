"""Parse JSON with the scanner inside `json` alone: importing `json` takes half as long as starting Python."""

TYPE_CHECKING = False  # typing would be imported
if TYPE_CHECKING:
    from typing import Any


class _Usual:
    """The defaults of `json.loads`."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def loads(data: bytes) -> "Any":  # noqa: ANN401  JSON
    """The value in UTF-8 text. Raises `ValueError` if it is not JSON, `RecursionError` if too deep."""
    text = data.decode("utf-8", "surrogatepass").strip(" \t\n\r")
    try:
        from _json import make_scanner  # CPython's

        value, end = make_scanner(_Usual)(text, 0)  # type: ignore[arg-type]  # any object with these works
        if end == len(text):
            return value
    except (ImportError, StopIteration, SystemError):  # SystemError: its error needs `json`
        pass
    import json

    return json.loads(text)
