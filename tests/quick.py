"""`--quick`: the tests that start no process and need little time, with few examples of each property.

An audit hook sees each start of a process. A test that starts one is skipped. Its name and those of tests that need
more than half a second of a processor, or a second in all, are kept in pytest's cache, and the next time these tests are left out.
"""

import sys
import time
from collections.abc import Generator

import pytest
from hypothesis import settings

_EXAMPLES = 10  # of a property, instead of a hundred or what its test asks for
_LONG_S = 0.5  # of a processor
_WAITING_S = 1.0
_EVENTS = frozenset({"subprocess.Popen", "os.posix_spawn", "os.fork", "os.exec", "os.forkpty"})
_CACHE = "sq/not_in_the_quick_part"
_REASON = "starts a process; not in the quick part"


class StartsProcessError(RuntimeError):
    """A test of the quick part was about to start a process."""


class Watch:
    """Watches one test at a time. `names`: the tests that started a process or took long, now or before."""

    def __init__(self, names: list[str]) -> None:
        self.names = set(names)
        self.test = ""
        self.started = False
        self.began_s = 0.0
        sys.addaudithook(self._hook)

    def _hook(self, event: str, _arguments: object) -> None:
        if self.test and event in _EVENTS:
            self.started = True
            raise StartsProcessError(_REASON)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Watches the test; processes that pytest itself starts do not count."""
        self.test, self.started, self.began_s = item.nodeid, False, time.process_time()
        try:
            return (yield)
        finally:
            self.test = ""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """A test that was about to start a process is skipped, whatever followed.

        So is one whose fixture is shared, and failed for this reason in an earlier test.
        """
        if call.excinfo and (self.started or isinstance(call.excinfo.value, StartsProcessError)):
            self.started = True
            call.excinfo = pytest.ExceptionInfo.from_exception(_skipped())
        report = yield
        long = time.process_time() - self.began_s > _LONG_S or call.duration > _WAITING_S
        if self.started or long:
            report.user_properties.append((_CACHE, item.nodeid))
        return report

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leaves out the tests that started a process or took long before, and takes few examples."""
        left = [item for item in items if item.nodeid in self.names]
        items[:] = [item for item in items if item.nodeid not in self.names]
        config.hook.pytest_deselected(items=left)
        for item in items:
            _take_few_examples(getattr(item, "obj", None))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collects the names, from all workers."""
        self.names.update(str(value) for name, value in report.user_properties if name == _CACHE)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Keeps the names for the next time; only the main process writes."""
        if session.config.cache and not hasattr(session.config, "workerinput"):
            session.config.cache.set(_CACHE, sorted(self.names))


def _skipped() -> pytest.skip.Exception:
    """The reason with a traceback, which a report wants."""
    try:
        pytest.skip(_REASON)
    except pytest.skip.Exception as skipped:
        return skipped


def _take_few_examples(test: object) -> None:
    """Hypothesis offers no other way to change what a test's own `@settings` ask for."""
    name = "_hypothesis_internal_use_settings"
    asked = getattr(test, name, None)
    if getattr(test, "is_hypothesis_test", False) and (asked is None or asked.max_examples > _EXAMPLES):
        vars(getattr(test, "__func__", test))[name] = settings(asked, max_examples=_EXAMPLES)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--quick`."""
    parser.addoption("--quick", action="store_true", help="only tests that start no process and are quick")


def pytest_configure(config: pytest.Config) -> None:
    """Begins to watch."""
    if config.getoption("--quick"):
        known = config.cache.get(_CACHE, []) if config.cache else []
        config.pluginmanager.register(Watch(known))
