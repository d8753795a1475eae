"""What tests of runners share: one home for the caches of tools, one folder of npm packages."""

import shutil

import pytest
from language.programs import ran


@pytest.fixture(scope="session")
def tools_home(tmp_path_factory):
    return tmp_path_factory.mktemp("tools")


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    """A function from names of npm packages to a `node_modules` that has them; skips without npm or registry."""
    made = {}

    def install(*names):
        if names not in made:
            if shutil.which("npm") is None:
                pytest.skip("npm is not on this machine")
            folder = tmp_path_factory.mktemp("packages")
            (folder / "package.json").write_text('{"private": true}')
            done = ran(
                ["npm", "install", "--no-audit", "--no-fund", "--silent", *names], cwd=folder, timeout=110
            )
            made[names] = (
                folder / "node_modules" if done.returncode == 0 else done.stderr or "npm install failed"
            )
        if isinstance(made[names], str):
            pytest.skip(f"npm could not fetch {', '.join(names)}: {made[names][-200:]}")
        return made[names]

    return install
