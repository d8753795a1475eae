"""Takes the secrets out of a text that is stored, shown, or sent to a model."""

import re
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import unquote

from state.redaction.known import Known, KnownValues
from state.redaction.tokens import without_tokens
from state.secrets import secret_names

Redact = Callable[[str], str]
_PASSWORD = re.compile(r"^[a-z][a-z0-9+.-]*://[^/@\s:]*:([^/@\s]+)@", re.IGNORECASE)


class Redactor:
    """Replaces each known secret by its name, and each token of a known format by the name of that format."""

    def __init__(self, values: Iterable[Known] = ()) -> None:
        self._known = KnownValues(values)

    def __call__(self, text: str) -> str:
        """Return the text without known secrets and without tokens."""
        return without_tokens(self.known(text))

    def known(self, text: str) -> str:
        """Return the text without known secrets. A token in a file or diff of the work stays as it is."""
        return self._known.replaced(text) if self._known else text


def redactor(environ: Mapping[str, str], more: Iterable[Known] = ()) -> Redactor:
    """Return the redactor for the secrets of an environment, and for `more` of them."""
    return Redactor([*(one for name in secret_names(environ) for one in _of(name, environ[name])), *more])


def _of(name: str, value: str) -> list[Known]:
    """Return a value, and the password in it if it is an address with one."""
    found = _PASSWORD.match(value)
    passwords = {found[1], unquote(found[1])} if found else set()
    return [Known(name, value), *(Known(name, one) for one in passwords)]
