"""Objections that somebody lets go: by name on the command line, or in a signed file of the base.

A name is that of an objection with the content that it is about, so an acceptance is void once that changes.
What the judged commits themselves accept counts for nothing.
"""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from orchestrator.git.trees import text_at
from orchestrator.verify.bundle import ACCEPTANCE, RefusedError, signer_of
from orchestrator.verify.ranges import Work
from state.errors import UsageError

FILE, SIGNATURE, SIGNERS = "sq.accepted", "sq.accepted.sig", "sq.allowed_signers"
_LINE = re.compile(r"^([0-9a-f]{12})\b[ \t]*(.*)$", re.MULTILINE)


async def accepted_at_base(work: Work) -> dict[str, str]:
    """Return the names that the base accepts, each with who signed it and why.

    Raises:
        UsageError: the file is there, and its signature is of nobody whom the base allows.
    """
    texts = {name: await text_at(work.root, work.base, name) for name in (FILE, SIGNATURE, SIGNERS)}
    if not texts[FILE]:
        return {}
    if missing := [name for name, text in texts.items() if not text]:
        raise UsageError(
            f"{FILE} at {work.base[:10]} needs {' and '.join(missing)} beside it: sign it with "
            f"`ssh-keygen -Y sign -n {ACCEPTANCE} -f KEY {FILE}`, and list who may in {SIGNERS}"
        )
    with TemporaryDirectory(prefix="sq-") as folder:
        signers = Path(folder) / SIGNERS
        signers.write_text(texts[SIGNERS], "utf-8")
        try:
            signer = signer_of(texts[FILE].encode(), texts[SIGNATURE].encode(), signers, ACCEPTANCE)
        except RefusedError as error:
            raise UsageError(f"{FILE} at {work.base[:10]} counts for nothing: {error}") from error
    return {
        name: f"{signer}, in {FILE}: {why or 'no reason given'}" for name, why in _LINE.findall(texts[FILE])
    }
