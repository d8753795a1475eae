"""Evidence that travels: a statement about a work in one file, signed as git signs with SSH keys.

The file is a DSSE envelope around an in-toto statement. What is signed is its exact bytes, and the file
itself has one form only, so a changed byte anywhere is noticed. `ssh-keygen -Y` signs and checks.
"""

import base64
import binascii
import json
import platform
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from state.errors import UsageError

BUNDLE, ACCEPTANCE = "sq-verify", "sq-accept"  # what a signature is for, as `ssh-keygen -n` has it
PREDICATE = "https://in-toto.io/attestation/sq-verify/v1"
_PAYLOAD = "application/vnd.in-toto+json"
_LARGEST = 20_000_000  # bytes
_LIMIT_S = 30.0
_VERSIONED = ("python3", "node", "npm", "go", "cargo", "ruby", "php", "java", "dotnet", "make", "git")
_VERSION = re.compile(r"\d+(?:\.\d+)+[\w.+-]*")


class RefusedError(Exception):
    """A bundle is not what its signer signed, or its signer is not allowed. Nothing of it is run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A bundle whose signature holds: who signed it, and the statement."""

    signer: str
    statement: Mapping[str, Any]

    @property
    def predicate(self) -> Mapping[str, Any]:
        """What the statement says."""
        found = self.statement.get("predicate")
        if not isinstance(found, dict) or self.statement.get("predicateType") != PREDICATE:
            raise RefusedError(f"its statement is of another kind: {self.statement.get('predicateType')!r}")
        return found


def statement_of(data: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the statement about a result (`orchestrator.verify.formats.as_data`)."""
    work = data["work"]
    commit = [{"name": "commit", "digest": {"gitCommit": work["commit"]}}] if work["commit"] else []
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [*commit, {"name": "tree", "digest": {"gitTree": work["tree"]}}],
        "predicateType": PREDICATE,
        "predicate": {**data, "environment": dict(environment)},
    }


def environment_of(path: str) -> dict[str, str]:
    """Return the names and versions that a bundle names: of the system and of programs, of no variable."""
    found = {"system": f"{platform.system()} {platform.machine()}"}
    for name in _VERSIONED:
        if program := shutil.which(name, path=path):
            told = _ran([program, "version" if name == "go" else "--version"], b"")
            version = _VERSION.search((told.stdout + told.stderr).decode(errors="replace"))
            if version:
                found[name] = version[0]
    return found


def packed(statement: Mapping[str, Any], key: Path | None) -> bytes:
    """Return a bundle, signed if there is a key.

    Raises:
        UsageError: the key cannot be used.
    """
    payload = json.dumps(statement, sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode()
    signatures = []
    if key:
        told = _ran(["ssh-keygen", "-Y", "sign", "-n", BUNDLE, "-f", str(key)], _signed_bytes(payload))
        if told.returncode:
            said = told.stderr.decode(errors="replace").strip()
            raise UsageError(f"--sign {key}: ssh-keygen could not sign with it: {said}")
        signatures = [{"keyid": "", "sig": base64.b64encode(told.stdout).decode()}]
    return _written(payload, signatures)


def opened(data: bytes, signers: Path | None) -> Bundle:
    """Return a bundle whose signer is allowed.

    Raises:
        RefusedError: it was changed, is not signed, or its signer is not allowed.
    """
    if signers is None:
        raise RefusedError(
            "nothing says who may sign: name a file of allowed signers with --signers, or set "
            "gpg.ssh.allowedSignersFile in git's configuration"
        )
    payload, signature = _parts(data)
    signer = signer_of(_signed_bytes(payload), signature, signers, BUNDLE)
    statement = json.loads(payload)
    if not isinstance(statement, dict):
        raise RefusedError("its statement is none")
    return Bundle(signer=signer, statement=statement)


def signer_of(text: bytes, signature: bytes, signers: Path, purpose: str) -> str:
    """Return who signed a text, of those who may.

    Raises:
        RefusedError: nobody of them did.
    """
    with TemporaryDirectory(prefix="sq-") as folder:
        file = Path(folder) / "signature"
        file.write_bytes(signature)
        found = _ran(["ssh-keygen", "-Y", "find-principals", "-s", str(file), "-f", str(signers)], b"")
        for principal in found.stdout.decode(errors="replace").splitlines() if not found.returncode else ():
            verify = ["ssh-keygen", "-Y", "verify", "-f", str(signers), "-I", principal, "-n", purpose]
            if _ran([*verify, "-s", str(file)], text).returncode == 0:
                return principal
    raise RefusedError(f"its signature is of nobody whom {signers} allows, or it was changed afterwards")


def _parts(data: bytes) -> tuple[bytes, bytes]:
    """Return the payload and the signature of a file in its one form."""
    if len(data) > _LARGEST:
        raise RefusedError(f"it has more than {_LARGEST:,} bytes")
    try:
        envelope = json.loads(data)
        payload = base64.b64decode(envelope["payload"], validate=True)
        (one,) = envelope["signatures"] or [{"keyid": "", "sig": ""}]
        signature = base64.b64decode(one["sig"], validate=True)
        again = _written(payload, envelope["signatures"])
    except (ValueError, LookupError, TypeError, AttributeError, binascii.Error) as error:
        raise RefusedError(f"it is no bundle of `sq verify --bundle`: {error}") from error
    if not signature:
        raise RefusedError("it is not signed, so nothing says who vouches for it: --sign KEY signs one")
    if again != data or set(one) != {"keyid", "sig"} or one["keyid"]:
        raise RefusedError(
            "it is not in the form in which `sq verify --bundle` writes one, so it was changed"
        )
    return payload, signature


def _written(payload: bytes, signatures: list[dict[str, str]]) -> bytes:
    envelope = {
        "payloadType": _PAYLOAD,
        "payload": base64.b64encode(payload).decode(),
        "signatures": signatures,
    }
    return json.dumps(envelope, indent=1).encode() + b"\n"


def _signed_bytes(payload: bytes) -> bytes:
    """Return what is signed, as DSSE has it: the type with the payload, each with its length."""
    return b"DSSEv1 %d %s %d %s" % (len(_PAYLOAD), _PAYLOAD.encode(), len(payload), payload)


def _ran(command: list[str], stdin: bytes) -> "subprocess.CompletedProcess[bytes]":
    try:
        return subprocess.run(command, input=stdin, capture_output=True, timeout=_LIMIT_S, check=False)
    except FileNotFoundError:
        raise UsageError(f"{command[0]} was not found on PATH. Install it: OpenSSH has ssh-keygen") from None
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, b"", b"it took too long")
