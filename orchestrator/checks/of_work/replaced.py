"""Files of tests that replace a function of the work for all tests, so that none of them runs it."""

import re
from collections.abc import Collection

from agents.concurrency import aside
from orchestrator.checks.change import Change
from orchestrator.checks.comparison import ResultComparison
from orchestrator.git.trees import contents_at
from orchestrator.project.files import belongs_to_tests

_REPLACES = (
    r"^(?:\w[\w.]*\.(?:prototype\.)?NAME\s*=(?!=)|for \w[\w.]*\.NAME in\b|setattr\([^,\n]*,\s*[\"']NAME[\"']"
    r"|vars\([^)\n]*\)[.\[][^\n]*\bNAME\b|def (?!self\b)\w[\w:]*\.NAME\b"
    r"|\w[\w:]*\.define_singleton_method\(:NAME\b"
    r"|Object\.(?:assign|defineProperty)\([^\n]*\bNAME\b)"
)


async def replaced_by_tests(change: Change, compared: ResultComparison, names: Collection[str]) -> list[str]:
    """Return where files of tests replace a function of the work for all tests, as words about each.

    `names` are those of the functions. Only what stands outside functions counts.
    """
    touched = compared.touched
    every = (*touched.new, *touched.held, *touched.data, *touched.code, *touched.configuration)
    own = [path for path in every if belongs_to_tests(path)]  # no product that has its tests inside
    contents = await contents_at(change.repository, change.tree, own)
    one_of = "|".join(re.escape(name) for name in names) or r"(?!)"
    replaces = re.compile(_REPLACES.replace("NAME", f"(?:{one_of})"), re.MULTILINE)

    def found() -> list[str]:
        texts = ((path, replaces.search(text.decode("utf-8", "replace"))) for path, text in contents.items())
        return [f"{path} replaces what the work built: {at[0].strip()}" for path, at in texts if at]

    return await aside(found, "the tests of the work")
