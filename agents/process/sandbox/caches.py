"""Caches of package managers, which commands without network build from, and their credentials.

Paths are below the user's home folder. The variables name another place of the same cache. Go's build cache
is not among them, because Go builds nothing with one that is read-only.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

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
