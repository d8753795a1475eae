"""Headers for a collector, as OpenTelemetry writes them in a variable: `name=value,name=value`."""

from urllib.parse import unquote


def read_headers(text: str) -> dict[str, str]:
    """Return the headers by their names, or {} if the text is of another form. Values are percent-encoded."""
    found: dict[str, str] = {}
    for pair in filter(None, (one.strip() for one in text.split(","))):
        name, sign, value = pair.partition("=")
        name, value = name.strip().lower(), unquote(value.strip())
        if not (sign and name and name.isascii() and value.isascii() and (name + value).isprintable()):
            return {}
        found[name] = value
    return found
