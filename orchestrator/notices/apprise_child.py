"""Sends one notice by Apprise, in a process of its own: standard input holds JSON with url, title and text.

Exit code 0 if the service took it, 1 if not, 2 if Apprise does not know such an address. Without a title only
the address is looked at. The address is neither an argument nor in the environment, where other
processes could read it.
"""

import json
import logging
import sys


def main() -> int:
    """Send the notice of standard input, and return the exit code."""
    import apprise

    logging.basicConfig(stream=sys.stdout, format="%(message)s", level=logging.WARNING)
    given = json.load(sys.stdin)
    service = apprise.Apprise()
    if not service.add(given["url"]):
        return 2
    if "title" not in given:
        return 0
    taken = service.notify(
        title=given["title"],
        body=given["text"],
        body_format=apprise.NotifyFormat.TEXT,
        interpret_escapes=False,
    )
    return 0 if taken else 1


if __name__ == "__main__":
    sys.exit(main())
