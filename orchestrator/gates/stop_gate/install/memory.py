"""The content of a file of settings before the stop gate was put into it, so that it can be restored."""

import base64
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from state.atomic_files import DamagedFileError, encoded, read_json, replace_file


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """The bytes before, the folders that were made, and the hash of the bytes written. Stored as JSON."""

    original: bytes | None  # None: there was no file
    made: tuple[Path, ...]  # the innermost first
    written: str

    @classmethod
    def read(cls, record: Path) -> Self | None:
        """Read a record. Returns None if there is none or it cannot be used."""
        with suppress(DamagedFileError, ValueError):
            match read_json(record):
                case {"original": str() | None as original, "made": [*made], "written": str(written)}:
                    data = None if original is None else base64.b64decode(original, validate=True)
                    return cls(original=data, made=tuple(Path(str(one)) for one in made), written=written)
        return None

    def store(self, record: Path, file: Path) -> None:
        """Store this for a file. The caller holds the record's lock. Raises `WriteFailedError`."""
        original = None if self.original is None else base64.b64encode(self.original).decode()
        made = [str(folder) for folder in self.made]
        known = {"file": str(file), "original": original, "made": made, "written": self.written}
        replace_file(record, encoded(known))
