"""Folders of programs that commands need: the operating system's, installed toolchains, caches of packages.

The system's programs and libraries are read-only, without what only root may read. `~/.pyenv/shims` needs all
of `~/.pyenv`, `~/.nvm/versions/node/v20/bin` needs `~/.nvm/versions/node/v20`. A folder without signs of an
installation is shown alone. Commands without network build from the caches, whose paths are below the user's
home folder. The variables name another place of the same cache. Go's build cache is not among them, because
Go builds nothing with one that is read-only.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from agents.process.sandbox.plan import Access, Mount, reading

# Folders at the top that hold programs, libraries and settings of the machine, on any distribution.
_SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "etc", "opt", "nix", "gnu", "snap", "sw")
# Parts of other folders that programs need: packages of Ruby, TeX and Go, the resolver's file, processors.
_PARTS = (
    *("/var/lib/gems", "/var/lib/texmf", "/var/cache/fontconfig", "/var/lib/ghc"),
    *("/run/systemd/resolve", "/run/current-system", "/sys/devices/system/cpu"),
)
_EMPTY = ("/tmp", "/var/tmp", "/run")  # noqa: S108  those inside
_DEEPEST = 3  # folders below /etc
NAMED_BY = (
    "RUSTUP_HOME",
    "JAVA_HOME",
    "GOROOT",
    "NVM_DIR",
    "PYENV_ROOT",
    "RBENV_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
)
# Homes of version managers, by their last name. All of it is programs.
_MANAGERS = frozenset(
    {
        *(
            ".pyenv",
            ".rbenv",
            ".nodenv",
            ".goenv",
            ".jenv",
            ".plenv",
            ".phpenv",
            ".asdf",
            ".nvm",
            ".volta",
            ".fnm",
        ),
        *(
            ".rustup",
            ".deno",
            ".bun",
            ".juliaup",
            ".elan",
            ".ghcup",
            ".opam",
            ".sdkman",
            ".swiftly",
            ".proto",
        ),
        *(
            ".local/share/mise",
            ".local/share/uv",
            ".local/share/pipx",
            ".local/share/pnpm",
            ".local/share/fnm",
        ),
        *("miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba", ".linuxbrew", ".dotnet"),
    }
)
# Beside `bin` or `lib`, an installation has one of these. A project's checkout hardly has.
_SIGNS = (
    "pyvenv.cfg",
    "lib/node_modules",
    "conda-meta",
    "include",
    "libexec",
    "lib/python3",
    "GOROOT",
    "pkg/tool",
)
_PROGRAMS = frozenset({"bin", "sbin", "shims", "Scripts"})
_LINKS_READ = 2_000  # in one folder of PATH
_CACHES = (
    *((".cargo/registry", "CARGO_HOME", "registry"), (".cargo/git", "CARGO_HOME", "git")),
    ("go/pkg/mod", "GOMODCACHE", ""),
    *((".npm", "npm_config_cache", ""), (".cache/yarn", "YARN_CACHE_FOLDER", ""), (".yarn/berry", "", "")),
    *((".local/share/pnpm/store", "", ""), (".cache/pnpm", "", ""), (".bun/install/cache", "", "")),
    *((".cache/pip", "PIP_CACHE_DIR", ""), (".cache/uv", "UV_CACHE_DIR", ""), (".cache/pypoetry", "", "")),
    *((".m2/repository", "", ""), (".m2/wrapper", "", ""), (".gradle/caches", "GRADLE_USER_HOME", "caches")),
    *((".gradle/wrapper", "GRADLE_USER_HOME", "wrapper"), (".nuget/packages", "NUGET_PACKAGES", "")),
    *(
        (".gem/ruby", "", ""),
        ("", "GEM_HOME", ""),
        (".local/share/gem/ruby", "", ""),
        (".bundle/cache", "", ""),
    ),
    *(
        (".composer/cache", "", ""),
        (".cache/composer", "COMPOSER_CACHE_DIR", ""),
        (".config/composer/vendor", "", ""),
    ),
    *((".hex/packages", "HEX_HOME", "packages"), (".mix", "MIX_HOME", ""), (".pub-cache", "PUB_CACHE", "")),
    *((".cache/deno", "DENO_DIR", ""), (".cache/ms-playwright", "PLAYWRIGHT_BROWSERS_PATH", "")),
    *((".julia/packages", "", ""), (".julia/artifacts", "", ""), (".stack", "STACK_ROOT", "")),
    *((".cabal/packages", "", ""), (".cache/huggingface/hub", "HF_HOME", "hub"), (".cache/coursier", "", "")),
)
_CREDENTIALS = (
    *(".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", ".netrc", ".config/pip/pip.conf", ".pip/pip.conf"),
    *(".config/uv/uv.toml", ".config/pypoetry/auth.toml", ".config/pypoetry/config.toml"),
    *(
        ".cargo/credentials.toml",
        ".cargo/credentials",
        ".cargo/config.toml",
        ".gem/credentials",
        ".bundle/config",
    ),
    *(
        ".m2/settings.xml",
        ".m2/settings-security.xml",
        ".gradle/gradle.properties",
        ".nuget/NuGet/NuGet.Config",
    ),
    *(
        ".composer/auth.json",
        ".config/composer/auth.json",
        ".hex/hex.config",
        ".gitconfig",
        ".git-credentials",
    ),
    *(".config/git/config", ".config/git/credentials", ".ssh/known_hosts"),
)


def system_mounts(stand_in: Path) -> Iterator[Mount]:
    """Yield the mounts of the operating system.

    `stand_in` is an empty file, which is shown in place of files that others than root may not read.
    """
    for name in _SYSTEM:
        path = Path("/", name)
        if path.is_symlink():
            yield Mount(target=path, access=Access.LINK, source=path.readlink())
        elif path.is_dir():
            yield Mount(target=path)
    for folder in _EMPTY:
        yield Mount(target=Path(folder), access=Access.EMPTY)
    for part in map(Path, _PARTS):
        if part.is_dir():
            yield Mount(target=part)
    if os.geteuid() == 0:  # any other user is refused by the files' own modes
        yield from _unreadable(Path("/etc"), stand_in, _DEEPEST)


def _unreadable(folder: Path, stand_in: Path, deep: int) -> Iterator[Mount]:
    for path in sorted(folder.iterdir()):
        try:
            mode = path.lstat().st_mode
        except OSError:
            continue
        if stat.S_ISDIR(mode) and not mode & stat.S_IXOTH:
            yield Mount(target=path, access=Access.EMPTY)
        elif stat.S_ISDIR(mode) and deep > 1:
            yield from _unreadable(path, stand_in, deep - 1)
        elif stat.S_ISREG(mode) and not mode & stat.S_IROTH:
            yield Mount(target=path, access=Access.EMPTY, source=stand_in)


def toolchain_mounts(
    path: str,
    *,
    home: Path,
    programs: Iterable[Path] = (),
    named: Iterable[str] = (),
    never: Sequence[Path] = (),
) -> Iterator[Mount]:
    """Yield read-only mounts of the installations that PATH names.

    Args:
        path: the PATH of the sandboxed process. Relative entries are left out.
        home: the user's home folder. It is never shown whole.
        programs: further programs whose installation is needed.
        named: values of variables that name an installation, as `NAMED_BY` lists their names.
        never: folders that no mount may hold, for example the user's checkout.
    """
    kept_out = [home, *never]
    found: dict[Path, None] = {}
    for entry in dict.fromkeys(Path(one) for one in path.split(os.pathsep) if one.startswith("/")):
        if entry.is_dir():
            for folder in _needed(entry):
                found[_widest(folder, home, kept_out)] = None
    for program in programs:
        for one in (program, Path(os.path.realpath(program))):
            found[_widest(one.parent, home, kept_out)] = None
    for value in named:
        if value.startswith("/") and Path(value).is_dir() and not _holds(Path(value), kept_out):
            found[Path(value)] = None
    yield from reading(folder for folder in found if folder != Path("/") and not _holds(folder, kept_out))


def _needed(entry: Path) -> Iterator[Path]:
    """Yield a folder of PATH, and the folders that the links in it lead to."""
    yield entry
    try:
        with os.scandir(entry) as found:
            links = [one.path for one, _ in zip(found, range(_LINKS_READ), strict=False) if one.is_symlink()]
    except OSError:
        return
    folders = {Path(os.path.realpath(link)).parent for link in links}
    yield from sorted(folders)


def _widest(folder: Path, home: Path, kept_out: Sequence[Path]) -> Path:
    """Return the installation that a folder of programs belongs to, or the folder itself."""
    inside_home = folder.is_relative_to(home)
    for parent in (folder, *folder.parents):
        if parent in {home, parent.parent}:
            break
        below_home = (
            parent.relative_to(home).as_posix() if inside_home and parent.is_relative_to(home) else ""
        )
        if below_home in _MANAGERS or parent.name in _MANAGERS:
            return parent
    root = folder.parent
    if folder.name in _PROGRAMS and not _holds(root, kept_out) and _is_installation(root):
        return root
    return folder


def _is_installation(root: Path) -> bool:
    if (root / ".git").exists():
        return False
    if any((root / sign).exists() for sign in _SIGNS):
        return True
    return any((root / "lib").glob("python3*")) or (root / "share" / "man").is_dir()


def _holds(folder: Path, kept_out: Sequence[Path]) -> bool:
    """Whether a mount of `folder` would show one of the other folders."""
    real = Path(os.path.realpath(folder))
    return any(
        one.is_relative_to(folder) or Path(os.path.realpath(one)).is_relative_to(real) for one in kept_out
    )


def caches(home: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield the package caches that exist."""
    for below, variable, inside in _CACHES:
        named = environ.get(variable, "") if variable else ""
        usual = [home / below] if below else []
        for path in (*usual, *([Path(named) / inside] if named.startswith("/") else [])):
            if path.is_dir():
                yield path


def registry_credentials(home: Path) -> Iterator[Path]:
    """Yield the files that exist with which package managers sign in to registries."""
    return (home / below for below in _CREDENTIALS if (home / below).is_file())
