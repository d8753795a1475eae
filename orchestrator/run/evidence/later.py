"""Files of the work that run later, where somebody takes it, and links that lead out of the repository.

An editor, a shell, git, an agent or a service starts them by their name alone (the rows of `runs_later` in
`agents/session/policy.yaml`). So each is a doubt, unless the spec names it. (product.md, section 10)
"""

import re
from collections import deque
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from agents.session.permissions import later_terms

_MOST = 50
_MOST_LINKS = 40
_SENTENCE = re.compile(r"\n|(?<=[.!?;])\s")
_REFUSES = re.compile(r"\b(?:not?|never|without|leave|leaves|keep|except)\b|n't\b", re.IGNORECASE)


def files_that_run_later(
    spec: str, changed: Iterable[str], before: Mapping[str, str], now: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the changed files that run later, and new links that lead out, as `path → target`.

    `before` and `now` are the links of two trees. Those that `spec` names are left out.
    """
    found = [
        path for path in changed if (terms := later_terms(path)) is not None and not names(spec, path, terms)
    ]
    for path in now:
        stood = before.get(path) == now[path] and leads_out(path, before)
        if leads_out(path, now) and not stood and not names(spec, path, ()):
            found.append(f"{path} → {now[path]}")
    return tuple(found)[:_MOST]


def names(spec: str, path: str, terms: Iterable[str]) -> bool:
    """Whether a sentence of a spec asks for a file: it has its path, its name, a folder of it or a term."""
    place = PurePosixPath(path)
    hidden = [part for part in place.parts[:-1] if part.startswith(".")]
    name = [place.name] if re.search(r"[.-]", place.name) else []
    words = "|".join(re.escape(one.lower()) for one in (path, *name, *hidden, *terms))
    asked = re.compile(rf"(?<![\w.-])(?:{words})(?![\w-])")
    sentences = (one.lower() for one in _SENTENCE.split(spec) if not _REFUSES.search(one))
    return any(asked.search(one) for one in sentences)


def leads_out(path: str, links: Mapping[str, str]) -> bool:
    """Whether a path of a tree leads out of it or into its git folder, through the links of the tree."""
    place: list[str] = []
    waiting, followed = deque(path.split("/")), 0
    while waiting and followed <= _MOST_LINKS:
        part = waiting.popleft()
        if part == "..":
            if not place:
                return True
            place.pop()
        elif part not in {"", "."}:
            place.append(part)
            if (target := links.get("/".join(place))) is not None:
                if target.startswith("/"):
                    return True
                place.pop()
                waiting.extendleft(reversed(target.split("/")))
                followed += 1
    return place[:1] != [] and place[0].lower() == ".git"
