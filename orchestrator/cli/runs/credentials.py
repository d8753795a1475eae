"""The credentials of a run that is no rehearsal, and the address of the API."""

from collections.abc import Mapping

from agents.access import Credentials, find_credentials
from agents.api_key import ApiKey
from agents.gateway.forward.upstream import API, check_address
from agents.session.claude_code import find_cli

BASE_URL = "ANTHROPIC_BASE_URL"


def credentials_of(key: ApiKey | None, environ: Mapping[str, str]) -> Credentials:
    """Return the credentials of a run that is no rehearsal.

    Raises:
        UsageError: there are none, or the address of the API is none.
    """
    address_in(environ)
    return find_credentials(key, environ, cli=find_cli())


def address_in(environ: Mapping[str, str]) -> str:
    """Return the address of the API: the user's own one, or Anthropic's.

    Raises:
        UsageError: it is no address.
    """
    return check_address(environ.get(BASE_URL) or API)
