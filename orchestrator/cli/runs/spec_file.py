"""Reading a spec, or saying what is wrong with the file."""

from pathlib import Path

from state.errors import UsageError


def read_spec(path: Path) -> str:
    """The text of a spec.

    Raises:
        UsageError: missing, a folder, empty, binary or not UTF-8; names the file.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"--spec {path}: there is no such file") from None
    except OSError as error:
        raise UsageError(f"--spec {path}: cannot be read: {error.strerror}") from error
    if b"\0" in data:
        raise UsageError(f"--spec {path}: this is a binary file; a spec is Markdown text")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"--spec {path}: not UTF-8 (byte {error.start} is {data[error.start]:#04x}); save it as UTF-8"
        ) from error
    if not text.strip():
        raise UsageError(f"--spec {path}: the file is empty; write down what should be built")
    return text
