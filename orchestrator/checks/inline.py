"""Files that hold code and its tests: the two are told apart by a mark, as in Rust."""

from pathlib import Path

from orchestrator.git.trees import text_at, with_files

_MARK = "#[cfg(test)]"
_INLINE = (".rs",)


def is_inline(path: str, text: str) -> bool:
    """Whether a file holds code and, after a mark, its tests."""
    return path.endswith(_INLINE) and _MARK in text


def tests_in(path: str, content: bytes) -> bytes:
    """Return the tests of an inline file, else the whole content."""
    if not is_inline(path, content.decode("utf-8", "replace")):
        return content
    return content.partition(_MARK.encode())[2]


async def with_tests_of(repository: Path, tree: str, *, of: str, paths: list[str]) -> str:
    """Return the tree `tree` with these inline files' tests taken from the tree `of`."""
    files = {}
    for path in paths:
        code, tests = await text_at(repository, tree, path), await text_at(repository, of, path)
        if code and tests:
            files[path] = code.partition(_MARK)[0] + _MARK + tests.partition(_MARK)[2]
    return await with_files(repository, tree, files) if files else tree


async def inline_among(repository: Path, tree: str, paths: list[str]) -> list[str]:
    """Return those of the paths that are inline files in a tree."""
    candidates = [path for path in paths if path.endswith(_INLINE)]
    return [path for path in candidates if is_inline(path, await text_at(repository, tree, path))]
