"""Compares vendored files with the npm packages that `VENDOR.toml` names, or renews them: `bin/vendor`."""

import base64
import hashlib
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("orchestrator/views/page/assets/vendor", "tests/pages/vendor")


def rows() -> list[tuple[Path, dict[str, Any]]]:
    """Return the folder and the row of each vendored file."""
    found = []
    for name in FOLDERS:
        folder = ROOT / name
        found += [(folder, row) for row in tomllib.loads((folder / "VENDOR.toml").read_text("utf-8"))["file"]]
    return found


def fetched(row: dict[str, Any]) -> bytes:
    """Return the file as the registry has it, from an archive with the noted integrity.

    Raises:
        SystemExit: the archive is another one.
    """
    with tempfile.TemporaryDirectory() as place:
        command = ["npm", "pack", "--silent", f"{row['name']}@{row['version']}"]
        subprocess.run(command, cwd=place, check=True, stdout=subprocess.DEVNULL)
        archive = next(Path(place).glob("*.tgz"))
        found = "sha512-" + base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if found != row["integrity"]:
            sys.exit(f"{archive.name} has the integrity {found}, and VENDOR.toml has {row['integrity']}")
        with tarfile.open(archive) as packed:
            member = packed.extractfile(row["member"])
            if member is None:
                sys.exit(f"{archive.name} has no {row['member']}")
            return member.read()


def main() -> int:
    """Return 1 if a file differs from the registry's or from its hash."""
    differs = False
    for folder, row in rows():
        here, there = folder / row["file"], fetched(row)
        if "--write" in sys.argv[1:]:
            here.write_bytes(there)
        is_same = here.read_bytes() == there and hashlib.sha256(there).hexdigest() == row["sha256"]
        differs |= not is_same
        sys.stdout.write(f"{'ok' if is_same else 'DIFFERS'}  {here.relative_to(ROOT)}\n")
    return int(differs)


if __name__ == "__main__":
    sys.exit(main())
