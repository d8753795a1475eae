"""`sq doctor` on notices and telemetry."""

from pathlib import Path

import pytest
from language.tables import rows

from orchestrator.cli.doctor.checks import CheckLevel, DoctorCheck
from orchestrator.cli.doctor.settings import checks_of_integrations


@pytest.mark.parametrize(*rows(__file__, "settings"))
def test_each_table_and_key_is_looked_at_with_its_variable(
    tmp_path: Path, text: str, environ: dict[str, str], expected: list[tuple[str, str, str]]
) -> None:
    (tmp_path / "sq.toml").write_text(text)
    found = [one for one in checks_of_integrations(environ, tmp_path) if one.name != "hosts"]
    assert [(one.name, one.level) for one in found] == [
        (name, CheckLevel(level)) for name, level, _ in expected
    ]
    for one, (_, level, words) in zip(found, expected, strict=True):
        assert words in one.found
        assert bool(one.advice) is (level != "ok")


def test_a_configuration_with_problems_is_left_to_its_own_check(tmp_path: Path) -> None:
    (tmp_path / "sq.toml").write_text('[[notify]]\non = ["never"]\ncommand = "cat"\n')
    assert list(checks_of_integrations({}, tmp_path)) == []


def test_the_hosts_that_sandboxes_would_reach_are_named(tmp_path: Path) -> None:
    def hosts(**environ: str) -> DoctorCheck:
        (found,) = [one for one in checks_of_integrations(environ, tmp_path) if one.name == "hosts"]
        return found

    assert "reach none" in hosts().found
    (tmp_path / "package.json").write_text("{}")
    (tmp_path / "sq.toml").write_text('[sandbox]\nhosts = ["registries", "nexus.example"]\n')
    assert hosts().level is CheckLevel.OK
    assert "read packages from" in hosts().found
    assert "nexus.example" in hosts().found
    assert hosts(HTTPS_PROXY="socks5://127.0.0.1:1").level is CheckLevel.WARN
