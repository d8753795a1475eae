"""Scenarios written in a test, and servers that play them."""

from contextlib import asynccontextmanager
from textwrap import dedent, indent

import anyio
import pytest
from desk import Desk

from agents.gateway.ledger import read_ledger
from agents.gateway.scenario import load_scenario
from agents.gateway.server import serve_scenario

HEAD = "scenario: 1\nusage: {input_tokens: 1200, output_tokens: 80}\ncallers:\n"


@pytest.fixture
def scenario(tmp_path):
    """Reads callers, written as YAML, into a scenario."""

    def read(callers):
        path = tmp_path / "scenario.yaml"
        path.write_text(HEAD + indent(dedent(callers), "  "), encoding="utf-8")
        return load_scenario(path)

    return read


@pytest.fixture
def ledger(tmp_path):
    """What the ledger of the test holds, as (caller, reply, part, repeat)."""

    def lines():
        found = read_ledger(tmp_path / "ledger.jsonl")
        return [(line.caller, line.reply, line.part.value, line.repeat) for line in found]

    return lines


@pytest.fixture
def faults(tmp_path):
    """What went wrong on purpose in the test and what else was answered, as the ledger tells it."""

    def lines():
        return [line.misbehaved or line.part.value for line in read_ledger(tmp_path / "ledger.jsonl")]

    return lines


@pytest.fixture
def playing(tmp_path, scenario):
    """A server that plays callers, written as YAML, until the block ends."""

    @asynccontextmanager
    async def serve(callers):
        with anyio.fail_after(60):
            async with serve_scenario(
                scenario(callers), run_id="run-1", ledger=tmp_path / "ledger.jsonl"
            ) as gateway:
                yield gateway

    return serve


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path)
