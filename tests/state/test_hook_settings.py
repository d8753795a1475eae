"""The stop gate comes into settings once, goes out again, and nothing else changes: for any settings whatever."""

import copy
import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from orchestrator.gates.stop_gate.install import Removal, install, uninstall
from orchestrator.gates.stop_gate.settings_text import (
    absolute_command,
    entry_of,
    gates_in,
    guarded_command,
    is_ours,
    parsed,
    with_gate,
    without_gate,
)
from state.errors import UsageError

OURS = absolute_command(["/opt/a b/bin/sq"])
COMMANDS = [OURS, absolute_command(["/opt/sq"], power_steering=True), guarded_command()]
FOREIGN = ["echo hook stop", "sq hook stop && date", "npm test", "", f"echo '{OURS}'"]

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def hooks_with(*commands):
    entry = st.fixed_dictionaries(
        {"type": st.just("command"), "command": st.sampled_from(commands)},
        optional={"timeout": st.integers(), "async": st.booleans()},
    )
    group = st.fixed_dictionaries(
        {"hooks": st.lists(entry | VALUES, max_size=3)}, optional={"matcher": st.text(max_size=3)}
    )
    event = st.sampled_from(["Stop", "PreToolUse", "SubagentStop"]) | st.text(max_size=4)
    return st.dictionaries(event, st.lists(group | VALUES, max_size=3) | VALUES, max_size=3)


def settings_with(*commands):
    anything = st.dictionaries(st.text(max_size=4), VALUES, max_size=3)
    whole = st.fixed_dictionaries({}, optional={"hooks": hooks_with(*commands) | VALUES, "model": VALUES})
    return st.tuples(anything, whole, anything).map(lambda parts: {**parts[0], **parts[1], **parts[2]})


@st.composite
def texts(draw, objects):
    """An object as somebody may have written it."""
    indent = draw(st.sampled_from([None, 1, 2, 4, "\t"]))
    text = json.dumps(draw(objects), indent=indent, ensure_ascii=draw(st.booleans()))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    before = draw(st.sampled_from(["", "\ufeff", "\n ", "\ufeff\r\n"]))
    return (before + text + draw(st.sampled_from(["", "\n", "\n\n", " "]))).encode()


def object_in(data):
    return json.loads(data.decode("utf-8-sig"))


def without_ours(settings):
    """What the taking out is measured by: the object without our hooks and what is empty without them."""
    settings = copy.deepcopy(settings)
    hooks = settings.get("hooks") if isinstance(settings, dict) else None
    stop = hooks.get("Stop") if isinstance(hooks, dict) else None
    if not isinstance(stop, list):
        return settings
    kept = []
    for group in stop:
        entries = group.get("hooks") if isinstance(group, dict) else None
        if not isinstance(entries, list):
            kept.append(group)
            continue
        left = [one for one in entries if not ours(one)]
        if left or not entries:
            kept.append({**group, "hooks": left})
    if len(kept) == len(stop) == 0 or kept:
        hooks["Stop"] = kept
        return settings
    del hooks["Stop"]
    if not hooks:
        del settings["hooks"]
    return settings


def ours(entry):
    return (
        isinstance(entry, dict)
        and entry.get("type") == "command"
        and isinstance(entry.get("command"), str)
        and is_ours(entry["command"])
    )


def equal(one, other):
    """Also in the order of keys and the kinds of numbers."""
    return json.dumps(one) == json.dumps(other)


def refused(act):
    try:
        act()
    except UsageError as error:
        return str(error)
    return ""


# --- any settings ---------------------------------------------------------------------------------------


@given(data=texts(settings_with(*FOREIGN)), command=st.sampled_from(COMMANDS))
def test_in_and_out_again_gives_the_same_bytes_or_is_refused_without_a_touch(tmp_path_factory, data, command):
    folder = tmp_path_factory.mktemp("settings")
    file = folder / "settings.json"
    file.write_bytes(data)
    if refused(lambda: install(file, command, memory=folder / "memory")):
        assert file.read_bytes() == data
        return
    written = file.read_bytes()
    (gate,) = gates_in(object_in(written))
    assert gate.entry == entry_of(command)
    assert equal(without_ours(object_in(written)), without_ours(object_in(data))) or not filled(data)
    assert not install(file, command, memory=folder / "memory")
    assert file.read_bytes() == written
    assert uninstall(file, memory=folder / "memory") is Removal.RESTORED
    assert file.read_bytes() == data
    assert uninstall(file, memory=folder / "memory") is Removal.NOT_THERE


def filled(data):
    """Whether `hooks` and `Stop`, where they are there, hold something: else they go with the gate."""
    hooks = object_in(data).get("hooks", 1)
    return hooks and hooks != {"Stop": []} and not (isinstance(hooks, dict) and hooks.get("Stop", 1) == [])


@given(
    settings=settings_with(*FOREIGN),
    command=st.sampled_from(COMMANDS),
    key=st.text(max_size=4),
    value=VALUES,
    indent=st.sampled_from([None, 2, 3]),
)
def test_what_was_edited_in_between_stays_and_ours_alone_goes(
    tmp_path_factory, settings, command, key, value, indent
):
    assume(key != "hooks")
    folder = tmp_path_factory.mktemp("settings")
    file, memory = folder / "settings.json", folder / "memory"
    file.write_text(json.dumps(settings))
    try:
        install(file, command, memory=memory)
    except UsageError:
        return
    edited = object_in(file.read_bytes())
    foreign = {"hooks": [{"type": "command", "command": "later"}]}
    for one in (edited, settings):
        one[key] = value
        one.setdefault("hooks", {}).setdefault("PreToolUse", []).append(foreign)
    file.write_text(json.dumps(edited, indent=indent) + "\n\n")
    assert uninstall(file, memory=memory) is Removal.TAKEN_OUT
    assert object_in(file.read_bytes()) == settings


@given(data=texts(settings_with(*FOREIGN, *COMMANDS)), command=st.sampled_from(COMMANDS))
def test_where_older_ones_of_ours_are_one_is_left_and_everything_foreign(data, command):
    text = data.decode("utf-8-sig")
    try:
        changed = with_gate(text, entry_of(command))
    except ValueError:
        return
    (gate,) = gates_in(json.loads(changed))
    assert entry_of(command).items() <= gate.entry.items()
    assert with_gate(changed, entry_of(command)) == changed
    assert equal(without_ours(json.loads(without_gate(text))), without_ours(json.loads(text)))
    assert not list(gates_in(json.loads(without_gate(changed))))


@given(data=st.binary(max_size=40) | texts(VALUES))
def test_bytes_of_any_kind_are_refused_in_plain_words_or_used(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("settings")
    file = folder / "settings.json"
    file.write_bytes(data)
    for act in (lambda: install(file, OURS, memory=folder), lambda: uninstall(file, memory=folder)):
        why = refused(act)
        assert not why or ("cannot be used" in why and str(file) in why and "not touched" in why)
    assert file.read_bytes() == data


# --- how it is written ----------------------------------------------------------------------------------


def test_into_nothing_and_into_an_empty_object_it_is_written_with_two_spaces():
    wanted = """{
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "/bin/sq hook stop",
            "timeout": 200
          }
        ]
      }
    ]
  }
}
"""
    entry = entry_of(absolute_command(["/bin/sq"]))
    assert with_gate("", entry) == with_gate(" \n", entry) == with_gate("{}\n", entry) == wanted


def test_the_text_around_the_hooks_keeps_its_indentation_its_numbers_its_escapes_and_its_order():
    around = (
        '{\n\t"z": 1.50,\n\t"a": [1,2 , 3],\n\t"é": "\\u00e9\\ud800",\n\t"hooks": ',
        ',\n\t"big": 1e400\n}',
    )
    text = '{"PreToolUse": [],\n "Stop": [{"hooks": [{"type":"command","command":"x"}]}]}'.join(around)
    changed = with_gate(text, entry_of(OURS))
    assert changed.startswith(around[0] + '{\n\t\t"PreToolUse": [],\n\t\t"Stop": [\n\t\t\t{\n')
    assert changed.endswith("\n\t\t]\n\t}" + around[1])
    left = without_gate(changed)
    assert (left.startswith(around[0]), left.endswith(around[1])) == (True, True)
    assert json.loads(left) == json.loads(text)


def test_a_text_on_one_line_stays_on_one_line():
    text = '{"model":"opus"}'
    changed = with_gate(text, entry_of(OURS))
    assert "\n" not in changed
    assert changed.startswith('{"model":"opus", "hooks": {"Stop": [')
    assert without_gate(changed) == text


def test_line_ends_of_windows_are_written_where_they_are_used():
    changed = with_gate('{\r\n  "a": 1\r\n}\r\n', entry_of(OURS))
    assert changed.count("\n") == changed.count("\r\n") == 16


def test_an_older_form_is_replaced_in_its_place_and_what_was_added_to_it_stays():
    old = {"type": "command", "command": "/old/sq hook stop", "timeout": 5, "statusMessage": "looking"}
    other = {"type": "command", "command": "other"}
    settings = {"hooks": {"Stop": [{"matcher": "", "hooks": [other, old]}, {"hooks": [other]}]}}
    command = absolute_command(["/new/sq"], power_steering=True)
    changed = json.loads(with_gate(json.dumps(settings, indent=4), entry_of(command)))
    assert changed["hooks"]["Stop"][0]["hooks"] == [other, {**old, "command": command, "timeout": 200}]
    assert changed["hooks"]["Stop"][1] == {"hooks": [other]}


def test_a_hook_that_was_put_into_our_group_stays_when_ours_goes():
    settings = json.loads(with_gate("{}", entry_of(OURS)))
    later = {"type": "command", "command": "later"}
    settings["hooks"]["Stop"][0]["hooks"].append(later)
    left = json.loads(without_gate(json.dumps(settings)))
    assert left == {"hooks": {"Stop": [{"hooks": [later]}]}}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("[]", "no JSON object"),
        ('{"hooks": null}', "`hooks`"),
        ('{"hooks": []}', "`hooks`"),
        ('{"hooks": {"Stop": {}}}', "`hooks`"),
        ('{"hooks": {"PreToolUse": 1}}', "`hooks`"),  # Claude Code would not load the file
        ('{"hooks": {}, "hooks": {"Stop": []}}', "'hooks' is there more than once"),
        ('{"hooks": {"Stop": [], "Stop": []}}', "a key in `hooks` is there more than once"),
        ('{"a": NaN}', "NaN"),
        ("{} {}", "Extra data"),
        ("// mine\n{}", "Expecting value"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_settings_of_another_shape_are_refused(text, word):
    with pytest.raises(ValueError, match=word):
        with_gate(text, entry_of(OURS))


@given(data=texts(VALUES))
def test_a_text_is_read_as_any_reader_reads_it(data):
    assert equal(parsed(data.decode("utf-8-sig")), object_in(data))
