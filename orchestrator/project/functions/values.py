"""The empty value of a type, as source code: nought, no text, nothing in it, none."""

import re

from orchestrator.project.functions.languages import Language

_OPEN, _CLOSE = "<[({", ">])}"
_PLACE = re.compile(r"<(args|first|each)>|\{(\w+)\}")


def empty_value(language: Language, type_text: str, known: frozenset[str] = frozenset()) -> str | None:
    """Return the code of a type's empty value, or None if sq knows none.

    `known` are types of the project that have a default value. A value that begins with `=` takes the place
    of a whole body.
    """
    text = type_text.strip()
    for pattern, value in language.types.values:
        found = re.fullmatch(pattern, text, re.DOTALL)
        if found:
            return None if value is None else _filled(language, value, found, known)
    if known and re.sub(r"<.*", "", text).rsplit("::", 1)[-1] in known:
        return "Default::default()"
    return None


def _filled(language: Language, value: str, found: re.Match[str], known: frozenset[str]) -> str | None:
    groups = found.groupdict()
    args = groups.get("args") or groups.get("args2") or ""
    groups["args"] = args
    out, at = [], 0
    for place in _PLACE.finditer(value):
        out.append(value[at : place.start()])
        at = place.end()
        if place.group(2):
            out.append(groups.get(place.group(2), place.group(0)) or "")
            continue
        wanted = [args] if place.group(1) == "args" else parts(args)
        wanted = wanted[:1] if place.group(1) == "first" else wanted
        values = [empty_value(language, one, known) if one else "()" for one in wanted]
        if any(one is None for one in values):
            return None
        out.append(", ".join(one or "" for one in values))
    return "".join([*out, value[at:]])


def parts(text: str) -> list[str]:
    """Return the parts of a text between commas that stand in no brackets."""
    found, depth, start = [], 0, 0
    for index, sign in enumerate(text):
        if sign in _OPEN:
            depth += 1
        elif sign in _CLOSE and text[index - 1 : index + 1] != "->":
            depth -= 1
        elif sign == "," and depth == 0:
            found.append(text[start:index].strip())
            start = index + 1
    return [one for one in (*found, text[start:].strip()) if one]
