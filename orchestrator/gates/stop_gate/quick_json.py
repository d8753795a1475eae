"""JSON read by the parser inside `json`, alone: the rest takes half as long to import as Python to start."""

TYPE_CHECKING = False  # typing would be imported
if TYPE_CHECKING:
    from typing import Any


class _Usual:
    """What `json.loads` sets where nobody asks for anything else."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def loads(data: bytes) -> "Any":  # noqa: ANN401  JSON
    """The value in UTF-8 text. ValueError: it is no JSON; RecursionError: its brackets are too deep."""
    text = data.decode("utf-8", "surrogatepass").strip(" \t\n\r")
    try:
        from _json import make_scanner  # CPython's

        value, end = make_scanner(_Usual)(text, 0)  # type: ignore[arg-type]  # any object with these will do
        if end == len(text):
            return value
    except (ImportError, StopIteration, SystemError):  # the last: it has no error to raise without the rest
        pass
    import json

    return json.loads(text)
