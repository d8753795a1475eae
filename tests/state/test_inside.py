"""Files in a folder that others write: no link leads out of it, also if it is put there meanwhile."""

import os
import threading
from pathlib import Path

import pytest

from state.safe_paths import parent_inside, read_inside, remove_inside, write_inside


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "outside" / "sub").mkdir(parents=True)
    (tmp_path / "outside" / "secret").write_text("secret")
    inner = tmp_path / "folder"
    (inner / "sub").mkdir(parents=True)
    (inner / "sub" / "file").write_text("content")
    return inner


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
