"""Results of commands, as sq stores them, in a line."""

from state.records.commands import CommandRun, TestCount, TestState


def ran(exit_code: int | None = 0, output: str = "", **more: object) -> CommandRun:
    tests = more.pop("tests", {})
    count = TestCount(
        tests=tests,
        passed=sum(state is TestState.PASSED for state in tests.values()) if tests else None,
        failed=sum(state is TestState.FAILED for state in tests.values()) if tests else None,
        says_none=bool(more.pop("says_none", False)),
    )
    command = str(more.pop("command", "make test"))
    return CommandRun(
        command=command, exit_code=exit_code, seconds=1.0, output_tail=output, count=count, **more
    )
