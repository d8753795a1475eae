"""`--quick`: the tests that start no process. One that starts one is skipped there, and left out the next time.

An audit hook sees each start of a process. The names of the tests that did it are kept in pytest's cache, so with a
warm cache only tests without a process of their own are run.
"""

import sys
from collections.abc import Generator

import pytest

_EVENTS = frozenset({"subprocess.Popen", "os.posix_spawn", "os.fork", "os.exec", "os.forkpty"})
_CACHE = "sq/starts_a_process"
_REASON = "starts a process; not in the quick part"


class StartsProcessError(RuntimeError):
    """A test of the quick part was about to start a process."""


class Watch:
    """Watches one test at a time. `names`: the tests that started a process, now or before."""

    def __init__(self, names: list[str]) -> None:
        self.names = set(names)
        self.test = ""
        self.started = False
        sys.addaudithook(self._hook)

    def _hook(self, event: str, _arguments: object) -> None:
        if self.test and event in _EVENTS:
            self.started = True
            raise StartsProcessError(_REASON)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Watches the test; processes that pytest itself starts do not count."""
        self.test, self.started = item.nodeid, False
        try:
            return (yield)
        finally:
            self.test = ""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """A test that was about to start a process is skipped, whatever followed.

        So is one whose fixture is shared, and failed for this reason in an earlier test.
        """
        report = yield
        if self.started or (call.excinfo and isinstance(call.excinfo.value, StartsProcessError)):
            self.started = True
            report.user_properties.append((_CACHE, item.nodeid))
            if report.outcome == "failed":
                report.outcome = "skipped"
                report.longrepr = (str(item.path), 0, f"Skipped: {_REASON}")
        return report

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leaves out the tests that started a process before."""
        left = [item for item in items if item.nodeid in self.names]
        items[:] = [item for item in items if item.nodeid not in self.names]
        config.hook.pytest_deselected(items=left)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collects the names, from all workers."""
        self.names.update(str(value) for name, value in report.user_properties if name == _CACHE)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Keeps the names for the next time; only the main process writes."""
        if session.config.cache and not hasattr(session.config, "workerinput"):
            session.config.cache.set(_CACHE, sorted(self.names))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--quick`."""
    parser.addoption("--quick", action="store_true", help="only tests that start no process")


def pytest_configure(config: pytest.Config) -> None:
    """Begins to watch."""
    if config.getoption("--quick"):
        known = config.cache.get(_CACHE, []) if config.cache else []
        config.pluginmanager.register(Watch(known))
