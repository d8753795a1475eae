"""Reads a spec."""

from pathlib import Path

from state.errors import UsageError


def read_spec(path: Path) -> str:
    """The text of a spec.

    Raises:
        UsageError: the file is missing, a folder, empty, binary or not UTF-8.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"--spec {path}: there is no such file") from None
    except OSError as error:
        raise UsageError(f"--spec {path}: cannot be read: {error.strerror}") from error
    if b"\0" in data:
        raise UsageError(f"--spec {path}: this is a binary file. A spec is Markdown text")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"--spec {path}: not UTF-8 (byte {error.start} is {data[error.start]:#04x}). Save it as UTF-8"
        ) from error
    if not text.strip():
        raise UsageError(f"--spec {path}: the file is empty. Write down the work to be done")
    return text
