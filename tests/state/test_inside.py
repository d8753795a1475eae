"""Files in a folder that others write: no link leads out of it, also if it is put there meanwhile."""

import os
import socket
import stat
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from state.safe_paths import (
    files_inside,
    make_ordinary,
    parent_inside,
    read_inside,
    remove_inside,
    remove_tree,
    write_inside,
)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "outside" / "sub").mkdir(parents=True)
    (tmp_path / "outside" / "secret").write_text("secret")
    inner = tmp_path / "folder"
    (inner / "sub").mkdir(parents=True)
    (inner / "sub" / "file").write_text("content")
    yield inner
    subprocess.run(["rm", "-rf", inner], check=True)  # pytest cannot remove what is nested too deep


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("link", "sub/file"),
        ("sub/link", "../sub/file"),
        ("sub/twice", "link-of-sub"),
        ("sub/./x", "file"),
    ],
)
def test_links_that_stay_inside_are_read(folder: Path, link: str, target: str) -> None:
    (folder / "sub" / "link-of-sub").symlink_to("file")
    (folder / link).symlink_to(target)
    assert read_inside(folder, link) == b"content"


@pytest.mark.parametrize("target", ["../outside/secret", "{outside}/secret", "sub/../../outside/secret"])
def test_a_link_that_leads_out_is_not_read(folder: Path, target: str) -> None:
    (folder / "link").symlink_to(target.format(outside=folder.parent / "outside"))
    assert (folder / "link").read_text() == "secret"
    with pytest.raises(OSError, match="leads out of the folder"):
        read_inside(folder, "link")


def test_a_folder_on_the_way_that_leads_out_is_not_entered(folder: Path) -> None:
    (folder / "way").symlink_to("../outside")
    with pytest.raises(OSError, match="leads out of the folder"):
        read_inside(folder, "way/secret")
    for use in (lambda: write_inside(folder, "way/new", b""), lambda: remove_inside(folder, "way/secret")):
        with pytest.raises(OSError, match="way"):
            use()
    assert names_in(folder.parent / "outside") == ["secret", "sub"]


@pytest.mark.parametrize("path", ["../outside/secret", "sub/../../outside/secret", "/etc/passwd", "", "."])
def test_a_path_that_leads_out_is_refused(folder: Path, path: str) -> None:
    for use in (
        lambda: read_inside(folder, path),
        lambda: write_inside(folder, path, b""),
        lambda: remove_inside(folder, path),
    ):
        with pytest.raises(OSError, match="leads out"):
            use()


def test_a_link_to_itself_ends(folder: Path) -> None:
    (folder / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="symbolic links"):
        read_inside(folder, "loop")


def test_a_folder_is_no_file(folder: Path) -> None:
    with pytest.raises(OSError, match="not a regular file"):
        read_inside(folder, "sub")


def test_a_pipe_does_not_make_it_wait(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        read_inside(folder, "pipe")


def test_writing_replaces_a_link_and_not_its_target(folder: Path) -> None:
    (folder / "link").symlink_to("../outside/secret")
    write_inside(folder, "link", b"new")
    assert (folder / "link").read_text() == "new"
    assert not (folder / "link").is_symlink()
    assert (folder.parent / "outside" / "secret").read_text() == "secret"


def test_removing_takes_links_and_folders_and_never_their_targets(folder: Path) -> None:
    (folder / "sub" / "out").symlink_to(folder.parent / "outside")
    remove_inside(folder, "sub")
    remove_inside(folder, "missing/file")
    assert not (folder / "sub").exists()
    assert (folder.parent / "outside" / "secret").exists()


def test_folders_on_the_way_are_made_with_the_modes_of_others(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "like" / "a" / "b").mkdir(parents=True)
    (tmp_path / "like" / "a").chmod(0o750)
    with parent_inside(folder, "a/b/c", like=tmp_path / "like") as (_, name):
        assert name == "c"
    assert (folder / "a").stat().st_mode & 0o777 == 0o750


def test_a_link_that_is_put_there_meanwhile_is_never_followed(folder: Path) -> None:
    """A process that exchanges a folder and a link wins against a check, not against descriptors."""
    (folder / "out").symlink_to("../outside")
    (folder / "sub" / "secret").write_text("harmless")
    over = threading.Event()

    def exchange() -> None:
        while not over.is_set():
            for source, target in (("sub", "kept"), ("out", "sub"), ("sub", "out"), ("kept", "sub")):
                (folder / source).rename(folder / target)

    racing = threading.Thread(target=exchange)
    racing.start()
    try:
        for number in range(2000):
            try:
                assert read_inside(folder, "sub/secret") == b"harmless"
                write_inside(folder, "sub/new", b"x")
                if number % 10 == 0:
                    remove_inside(folder, "sub/new")
            except OSError:
                continue
    finally:
        over.set()
        racing.join()
    assert names_in(folder.parent / "outside") == ["secret", "sub"]


# --- what a sandboxed process could leave --------------------------------------------------------------


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(path))


def _hole(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


ODD: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a socket": _socket,
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a link that dangles": lambda path: path.symlink_to("nowhere"),
    "a link out": lambda path: path.symlink_to("/etc/hostname"),
    "a link to a device": lambda path: path.symlink_to("/dev/zero"),
    "a hole": _hole,
    "a folder": Path.mkdir,
}


def deep(folder: Path, levels: int, last: Callable[[Path], object] = Path.touch) -> None:
    """Nest folders as deep as no path of the kernel can name, with something in the last one."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    last(Path(f"/proc/self/fd/{here}/x"))
    os.close(here)


@pytest.mark.parametrize("what", ODD)
def test_what_is_no_ordinary_file_is_an_error_at_once_and_goes_with_its_folder(
    folder: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)  # the path of a socket is short
    ODD[what](folder / "odd")
    with pytest.raises(OSError, match=r"\w"):
        read_inside(folder, "odd", largest=1_000)
    assert remove_tree(folder) == ""
    assert not folder.exists()
    assert Path("/dev/zero").exists()
    assert (folder.parent / "outside" / "secret").exists()


def test_folders_nested_three_thousand_deep_are_removed_and_listed_without_an_error(folder: Path) -> None:
    deep(folder, 3_000)
    assert list(files_inside(folder)) == ["sub/file"]
    assert remove_tree(folder) == ""
    assert not folder.exists()


def test_a_list_of_all_names_also_what_is_not_looked_into(folder: Path) -> None:
    deep(folder / "sub", 70)
    (folder / os.fsdecode(b"a\xff")).touch()
    every = list(files_inside(folder, every=True))
    assert every[:2] == [os.fsdecode(b"a\xff"), "sub/file"]
    assert every[2] == "sub/" + "d/" * 64
    assert list(files_inside(folder)) == ["sub/file"]


def test_a_removal_that_takes_too_long_says_so_and_the_next_one_ends_it(folder: Path) -> None:
    for number in range(50):
        (folder / str(number)).mkdir()
    assert "too long" in remove_tree(folder, within_s=0.0)
    assert folder.exists()
    assert remove_tree(folder) == ""
    assert not folder.exists()


NAMES = st.binary(min_size=1, max_size=40).filter(
    lambda one: not set(one) & set(b"/\0") and one not in {b".", b".."}
)
KINDS = st.sampled_from(["file", "folder", "closed", "link", "pipe"])


@settings(max_examples=60)
@given(tree=st.lists(st.tuples(st.lists(NAMES, min_size=1, max_size=4), KINDS), max_size=25))
def test_any_tree_is_listed_made_ordinary_and_removed(tmp_path_factory: pytest.TempPathFactory, tree) -> None:
    folder = tmp_path_factory.mktemp("tree")
    kept = tmp_path_factory.mktemp("kept")
    (kept / "file").write_text("mine")
    for names, kind in tree:
        path = Path(os.fsdecode(b"/".join([os.fsencode(folder), *names])))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            match kind:
                case "file":
                    path.touch(exist_ok=False)  # to write would wait for a reader where a pipe has the name
                case "folder" | "closed":
                    path.mkdir()
                    path.chmod(0o700 if kind == "folder" else 0)
                case "link":
                    path.symlink_to(kept)
                case "pipe":
                    os.mkfifo(path)
        except OSError:  # something is in the way, or a folder is closed
            continue
    for name in files_inside(folder):
        name.encode()
    removed = make_ordinary(folder)
    left = [Path(at) / name for at, _, names in os.walk(folder) for name in names]
    assert not any(stat.S_ISFIFO(path.lstat().st_mode) for path in left)
    assert len(removed) <= len(tree)
    assert remove_tree(folder) == ""
    assert not os.path.lexists(folder)
    assert (kept / "file").read_text() == "mine"
