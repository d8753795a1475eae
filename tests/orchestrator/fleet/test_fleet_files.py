"""The files of docs/fleet: they parse, and say what a worker needs. Their own tools check them where they are here.

The schemas of Compose and Kubernetes are megabytes, so the fields that matter are looked at instead.
"""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from orchestrator.fleet.worker import DRAIN_S

FOLDER = Path(__file__).parents[3] / "docs" / "fleet"
SPARE_S = 10


def seconds(text: str) -> float:
    assert text.endswith("s")
    return float(text[:-1])


def test_the_compose_file_gives_a_worker_its_database_its_key_and_time_to_drain() -> None:
    compose: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text("utf-8"))
    assert set(compose) <= {"services", "secrets", "volumes", "networks", "configs", "name"}
    database, worker = compose["services"]["database"], compose["services"]["worker"]
    (command,) = worker["command"]
    assert "@database/fleet" in command
    assert "exec sq fleet worker" in command, "the worker gets the signal itself"
    assert "--repository" in command
    assert set(worker["secrets"]) | set(database["secrets"]) == set(compose["secrets"])
    assert worker["depends_on"]["database"]["condition"] == "service_healthy"
    assert "healthcheck" in database
    assert seconds(worker["stop_grace_period"]) >= DRAIN_S + SPARE_S
    named = {one.partition(":")[0] for one in (*worker["volumes"], *database["volumes"])}
    assert {one for one in named if not one.startswith(".")} == set(compose["volumes"])
    assert not any("PASSWORD" in name and "FILE" not in name for name in database["environment"])


def test_compose_itself_reads_the_file() -> None:
    if (
        not shutil.which("docker")
        or subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode
    ):
        pytest.skip("docker compose is not installed")
    command = ["docker", "compose", "--file", str(FOLDER / "compose.yaml"), "config", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_deployment_moves_runs_before_a_pod_ends() -> None:
    made: dict[str, Any] = yaml.safe_load((FOLDER / "kubernetes.yaml").read_text("utf-8"))
    assert (made["apiVersion"], made["kind"]) == ("apps/v1", "Deployment")
    template = made["spec"]["template"]
    pod = template["spec"]
    assert made["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
    assert pod["terminationGracePeriodSeconds"] >= DRAIN_S + SPARE_S
    (container,) = pod["containers"]
    assert container["args"][:3] == ["sq", "fleet", "worker"]
    assert "--repository" in container["args"]
    names = {one["name"]: one for one in container["env"]}
    assert "secretKeyRef" in names["SQ_FLEET_DATABASE"]["valueFrom"]
    assert "ANTHROPIC_API_KEY_FILE" in names
    assert {one["name"] for one in container["volumeMounts"]} == {one["name"] for one in pod["volumes"]}
    assert pod["securityContext"]["runAsNonRoot"] is True


def test_the_unit_asks_the_worker_alone_to_end_and_waits_for_it() -> None:
    lines = (FOLDER / "sq-fleet-worker.service").read_text("utf-8").splitlines()
    found = dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    assert found["KillMode"] == "mixed"
    assert float(found["TimeoutStopSec"]) >= DRAIN_S + SPARE_S
    assert " sq fleet worker " in found["ExecStart"]
    assert found["Restart"] == "always"


def test_systemd_itself_reads_the_unit(tmp_path: Path) -> None:
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed")
    unit = tmp_path / "sq-fleet-worker.service"
    unit.write_text((FOLDER / unit.name).read_text("utf-8"))
    done = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
