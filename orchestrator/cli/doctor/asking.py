"""`sq doctor --ask-checkout`: the test commands on a copy of the checkout, which is thrown away."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from anyio import to_thread

from agents.process.containment import detect_containment
from agents.process.sandbox.choice import choose_sandbox
from agents.process.sandbox.needs import Needs
from agents.process.sandbox.plan import Access, Mount
from agents.process.sandbox.policy import SandboxPolicy
from agents.process.tree import run_command
from orchestrator.cli.doctor.checks import DoctorCheck, ok, warn
from orchestrator.project.detection import detect
from orchestrator.project.readiness.kept import copied
from state.paths import scratch_folder
from state.secrets import without_secrets
from state.settings.records import Sandbox, Settings

_NAME = "checkout"


async def ask_checkout(root: Path, settings: Settings, environ: Mapping[str, str]) -> list[DoctorCheck]:
    """Run each test command at the checkout's path, where a sandbox without network shows a copy."""
    containment = detect_containment(environ)
    choice = choose_sandbox(Sandbox.AUTO, containment=containment, login=False, gateway=True, environ=environ)
    commands = settings.verify or tuple(one.command for one in detect(root))
    if not choice.program or not commands:
        why = "no sandbox works here" if commands else "no test command is known"
        return [warn(_NAME, f"it was not asked, because {why}", "name commands in `verify` of sq.toml")]
    policy = SandboxPolicy(choice=choice, environ=environ, own_processes=True, kept_out=(root,))
    checks = []
    async with scratch_folder() as scratch:
        copy = scratch / root.name
        if not await to_thread.run_sync(copied, root, copy):
            return [
                warn(_NAME, "it cannot be copied", "make room for a copy in the folder of temporary files")
            ]
        for number, command in enumerate(commands):
            needs = Needs(workspace=copy, scratch=scratch / f"sandbox{number}", path=environ.get("PATH", ""))
            plan = await to_thread.run_sync(policy.plan, needs)
            shown = Mount(target=root, access=Access.WRITE, source=copy)
            done = await run_command(
                ["sh", "-c", command],
                cwd=root,
                env=without_secrets(environ),
                deadline_s=settings.limits.verify_s,
                containment=containment,
                sandbox=replace(plan, workspace=root, mounts=(*plan.mounts, shown)),
            )
            last = (done.output.strip().splitlines() or [""])[-1]
            found = f"`{command}` ends with {done.exit_code} on a copy of your checkout: {last}"
            advice = "it is red in your checkout too, in the sandbox and without network"
            checks.append(warn(_NAME, found, advice) if done.exit_code else ok(_NAME, found))
    return checks
