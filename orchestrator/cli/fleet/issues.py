"""The open issues of a repository that have a label."""

import os

from orchestrator.cli.version import sq_version
from orchestrator.hosting.remote import Hosted, api_address, take_token
from orchestrator.hosting.service import Service
from state.errors import UsageError

_HOST = "github.com"


async def open_issues(slug: str, label: str) -> list[int]:
    """Return the numbers of the open issues of `OWNER/REPO` with this label, oldest first.

    Raises:
        UsageError: it is no name of a repository, or none has the label.
    """
    owner, sign, name = slug.partition("/")
    if not (sign and owner and name and label):
        raise UsageError(f"gh:{slug}@{label} names no issues. Write gh:OWNER/REPO@LABEL")
    token = take_token(_HOST)
    async with Service.at(api_address(_HOST, os.environ), token, agent=f"sq/{sq_version()}") as service:
        path, asked = f"/repos/{Hosted(_HOST, owner, name).slug}/issues", f"the issues of {slug}"
        query = {"state": "open", "direction": "asc", "labels": label}
        pages = service.pages(path, asked, query=query)
        found = [int(one["number"]) async for one in pages if "pull_request" not in one]
    if not found:
        raise UsageError(f"{slug} has no open issue with the label {label}")
    return found
