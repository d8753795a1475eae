"""The hook's own way to read JSON gives what `json` gives, and fails where that fails."""

import json
import subprocess
import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.gates.stop_gate import probe

VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(value=VALUES, indent=st.sampled_from([None, 1]), ascii_only=st.booleans())
def test_every_value_is_read_as_json_reads_it(value, indent, ascii_only):
    data = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    assert probe.parse_json(b" " + data + b"\n") == value


@settings(max_examples=300, deadline=None)
@given(text=st.one_of(st.text('{}[]",:1ea\\unl \n', max_size=12), st.text(max_size=6)))
def test_what_is_no_json_for_one_is_none_for_the_other(text):
    assert read(text.encode(), probe.parse_json) == read(text, json.loads)


def read(text, loads):
    try:
        return repr(loads(text))
    except ValueError:
        return "no JSON"


BROKEN = ["", "{", "[1,", '"a', "nul", "1 2", '{"a" 1}', '"\\u12"', '"\\x"', "[" * 100_000, "9" * 5_000]


def test_in_a_process_that_has_not_imported_json_it_fails_by_the_same_errors():
    script = (
        "import sys; from orchestrator.gates.stop_gate import probe\n"
        "assert probe.parse_json(b'[1, {\"a\": null}]') == [1, {'a': None}]\n"
        "assert 'json' not in sys.modules\n"
        f"for text in {BROKEN!r}:\n"
        "    try: probe.parse_json(text.encode())\n"
        "    except (ValueError, RecursionError): continue\n"
        "    sys.exit(text[:20])\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
