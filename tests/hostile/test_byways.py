"""Ways beside the doors: what lies around a session, a command or a checkout, and what somebody makes of it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hostile_runs import SQ, call, callers_of, outputs_of, says, signals
from language.tables import table
from test_detours import CLAIM, NOTICES, Acted, acted, begun, of_git
from test_limits import _running
from test_shares import policy as policy  # noqa: PLC0414  a fixture
from test_shares import repository as repository  # noqa: PLC0414

from agents.process.containment import contained, detect_containment
from agents.process.sandbox.bubblewrap import PROGRAM, bubblewrapped
from agents.process.sandbox.control_groups import control_groups
from agents.process.sandbox.needs import Needs
from agents.process.sandbox.policy import SandboxPolicy
from state.settings.records import SandboxLimits

pytestmark = [
    pytest.mark.hostile,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not shutil.which(PROGRAM), reason="bubblewrap is not installed"),
]
DONE = signals("task_complete", summary="Done.", tests="All tests pass.")


def bash(words: str) -> dict[str, Any]:
    return says(call("Bash", command=words, timeout=120_000))


def in_task(done: Acted, name: str) -> str:
    """The file in the newest commit of the run that holds it."""
    for commit in of_git(done.project, "rev-list", "--all", "--date-order").split():
        shown = subprocess.run(
            ["git", "-C", str(done.project), "show", f"{commit}:{name}"], capture_output=True, check=False
        )
        if shown.returncode == 0:
            return shown.stdout.decode(errors="replace")
    return "(in no commit)"


# --- what a process of the session says in Claude Code's place ---


def test_a_price_that_is_no_number_leaves_a_run_that_can_be_read(tmp_path: Path) -> None:
    begun(tmp_path)
    stream = table(__file__, "stream")
    act = f"( {stream['act'].replace('WORDS', stream['words'])} )\n{CLAIM}"
    done = acted(tmp_path, "true", callers={"worker/notes/1": [bash(act), *[DONE] * 3]}, SQ_RETRIES_TRIES="1")
    assert "error inside sq" not in done.output, done.end
    facts = [asdict(one.event) for one in done.stored]
    costs = [
        value for one in facts for name, value in one.items() if "cost" in name and isinstance(value, float)
    ]
    assert costs
    assert all(0 <= one < 1e6 for one in costs), costs


# --- what a command of the project leaves for the next one ---


def test_a_command_does_not_run_what_the_command_before_it_made_of_its_files(tmp_path: Path) -> None:
    left = table(__file__, "left")
    begun(
        tmp_path,
        **{"app.py": "def answer():\n    return 41\n", "one.sh": "python3 app.py\n", "two.sh": left["two"]},
    )
    done = acted(
        tmp_path,
        f"cat > app.py <<'PY'\n{left['app']}\nPY",
        verify=("sh one.sh", "sh two.sh"),
        callers={"worker/notes/1": [bash(f"cat > app.py <<'PY'\n{left['app']}\nPY\n{CLAIM}"), *[DONE] * 6]},
    )
    assert "forged-7d1c" not in outputs_of(done.stored), done.end
    assert "honest-two" in outputs_of(done.stored), done.end
    assert done.code != 0, done.end


def test_work_that_passes_by_what_an_earlier_tree_left_is_not_complete(tmp_path: Path) -> None:
    left = table(__file__, "left")
    begun(tmp_path, **{
        "app.py": "def one():\n    return 1\n", "tests/__init__.py": "", "tests/test_app.py": left["test"],
        ".gitignore": ".env\nbuild/\n__pycache__/\n",
    })  # fmt: skip
    more = (
        "printf '    def test_two(self):\\n        self.assertEqual(app.two(), 42)\\n' >> tests/test_app.py"
    )
    first = bash(f"cat > app.py <<'PY'\n{left['leaves']}\nPY\n{more}\n{CLAIM}")
    second = bash(f"cat > app.py <<'PY'\n{left['finds']}\nPY\n{CLAIM}")
    suite = "python3 -m unittest discover -s tests -t ."
    done = acted(
        tmp_path, "true", verify=(suite,), callers={"worker/notes/1": [first, DONE, second, DONE, DONE, DONE]}
    )
    clean = tmp_path / "clean"
    of_git(tmp_path, "clone", "-q", "-b", "main", str(done.project), str(clean))
    passes = subprocess.run(suite.split(), cwd=clean, capture_output=True, check=False).returncode == 0
    assert done.code != 0 or passes, done.end


# --- credentials in other places ---


def test_no_credential_in_another_file_of_the_git_folder_is_seen(tmp_path: Path) -> None:
    project = begun(tmp_path, **{"a.txt": "a\n"})
    mark = "of-git-cred"
    of_git(project, "worktree", "add", "-q", str(tmp_path / "beside"), "-b", "beside")
    of_git(project, "config", "extensions.worktreeConfig", "true")
    git = project / ".git"
    made = {
        "config.worktree": f'[http "https://a.invalid"]\n\textraHeader = "Authorization: Basic {mark}-1"\n',
        "worktrees/beside/config.worktree": f'[http "https://b.invalid"]\n\textraHeader = "Authorization: Basic {mark}-2"\n',
        "modules/sub/config": f'[remote "origin"]\n\turl = https://user:{mark}-3@example.invalid/sub.git\n',
        "modules/sub/HEAD": "ref: refs/heads/main\n",
        ".git-credentials": f"https://user:{mark}-4@example.invalid\n",
        "credentials": f"https://user:{mark}-5@example.invalid\n",
        "cookies": f"example.invalid\tTRUE\t/\tTRUE\t0\tsession\t{mark}-6\n",
        "deploy_key": f"-----BEGIN OPENSSH PRIVATE KEY-----\n{mark}-7\n-----END OPENSSH PRIVATE KEY-----\n",
        "local.inc": f'[http "https://c.invalid"]\n\textraHeader = "Authorization: Basic {mark}-8"\n',
        "config.bak": f'[remote "origin"]\n\turl = https://user:{mark}-9@example.invalid/p.git\n',
        "config~": f'[remote "origin"]\n\turl = https://user:{mark}-10@example.invalid/p.git\n',
        "remotes/old": f"URL: https://user:{mark}-11@example.invalid/p.git\n",
        "hooks/pre-push": f"#!/bin/sh\nTOKEN={mark}-12 notify\n",
        "annex/creds/a": f"user:{mark}-13\n",
        "lfs/cookies": f"{mark}-14\n",
        "FETCH_HEAD": f"{'0' * 40}\t\tbranch 'main' of https://user:{mark}-15@example.invalid/p\n",
        "logs/HEAD": f"{'0' * 40} {'1' * 40} A <a@b> 1 +0000\tclone: from https://user:{mark}-16@example.invalid/p\n",
        "info/alternates-token": f"{mark}-17\n",
        "sourcetreeconfig": f'{{"password": "{mark}-18"}}\n',
        "COMMIT_EDITMSG": f"token {mark}-20\n",
        "description": f"{mark}-21\n",
    }
    for name, text in made.items():
        (git / name).parent.mkdir(parents=True, exist_ok=True)
        (git / name).write_text(text + ((git / name).read_text() if name == "logs/HEAD" else ""))
    of_git(project, "config", "include.path", "local.inc")
    of_git(project, "config", "credential.helper", "store --file .git/credentials")
    done = acted(tmp_path, table(__file__, "in_git"))
    seen = in_task(done, "found.txt")
    assert "(in no commit)" not in seen, done.end
    assert not seen.strip(), seen
    control = subprocess.run(["grep", "-rlaF", mark, str(git)], capture_output=True, text=True, check=True)
    assert len(control.stdout.split()) >= len(made) - 1


PLAIN = {
    "DATABASE_URL": "postgres://app:MARK@db.invalid/app", "REDIS_URL": "redis://:MARK@cache.invalid:6379/0",

    "COMPOSER_AUTH": '{"http-basic": {"repo.invalid": {"username": "u", "password": "MARK"}}}',
    "BUNDLE_GEMS__CONTRIBSYS__COM": "user:MARK", "NPM_CONFIG__AUTH": "MARK", "MYSQL_PWD": "MARK",
    "SENTRY_DSN": "https://MARK@sentry.invalid/1", "SLACK_WEBHOOK_URL": "https://hooks.slack.com/services/T0/B0/MARK",
    "BW_SESSION": "MARK", "OP_SESSION_my": "MARK", "SSHPASS": "MARK", "DOCKER_AUTH_CONFIG": '{"auths": {"r.invalid": {"auth": "MARK"}}}',
    "MAVEN_OPTS": "-Xmx1g -Drepo.password=MARK", "JDBC_URL": "jdbc:postgresql://db.invalid/app?user=a&password=MARK",
    "SMTP_URL": "smtp://u:MARK@mail.invalid", "RESTIC_REPOSITORY": "rest:https://u:MARK@backup.invalid/",
    "VSS_NUGET_EXTERNAL_FEED_ENDPOINTS": '{"endpointCredentials": [{"endpoint": "https://f.invalid", "password": "MARK"}]}',
    "SONAR_LOGIN": "MARK", "AZURE_STORAGE_CONNECTION_STRING": "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=MARK==",
    "CI_JOB_JWT": "MARK", "MONGO_URI": "mongodb+srv://u:MARK@m.invalid/x", "LDAP_BIND_PW": "MARK",
}  # fmt: skip


def test_credentials_in_variables_with_plain_names_are_not_in_a_sandbox(tmp_path: Path) -> None:
    begun(tmp_path)
    values = {name: value.replace("MARK", "plain-cred-51c7") for name, value in PLAIN.items()}
    looks = "env | grep -a plain-cred-51c7 | cut -d= -f1 | sed 's/^/leaked:/'; " + NOTICES
    done = acted(tmp_path, table(__file__, "environment"), verify=(looks,), **values)
    seen = sorted(set(in_task(done, "found.txt").split()))
    later = sorted({line for line in outputs_of(done.stored).splitlines() if line.startswith("leaked:")})
    assert "(in" not in seen, done.end
    assert (seen, later) == ([], []), (len(seen), len(later), seen, later)


# A folder that PATH names, and a file with a credential that its tool, or another one, keeps near it.
BESIDE = (
    (".fly/bin", ".fly/config.yml"), (".pulumi/bin", ".pulumi/credentials.json"), (".platformsh/bin", ".platformsh/.session/sess"),
    (".foundry/bin", ".foundry/keystores/main"), (".docker/bin", ".docker/config.json"), (".cargo/bin", ".cargo/credentials.toml"),
    (".composer/vendor/bin", ".composer/auth.json"), (".wasmer/bin", ".wasmer/wasmer.toml"), (".wasmer/bin", ".wasmer/lib/x"),
    (".gem/ruby/3.1.0/bin", ".gem/credentials"), (".pub-cache/bin", ".pub-cache/credentials.json"),
    (".railway/bin", ".railway/config.json"), (".claude/local", ".claude/.credentials.json"), ("bin", "notes-of-mine.txt"),
    (".deno/bin", ".deno/auth"), (".local/share/pnpm", ".local/share/keyrings/x"), ("go/bin", "go/token"), (".krew/bin", ".krew/token"),
    ("work/venv/bin", "work/.env"), ("work/venv/bin", "work/venv/pip.conf"), ("work/venv/bin", "work/venv/lib/python3.11/site-packages/x.py"),
    (".nvm/versions/node/v20/bin", ".nvm/token"), (".nvm/versions/node/v20/bin", ".nvm/versions/node/v20/etc/npmrc"),
    (".nvm/versions/node/v20/bin", ".nvm/versions/node/v20/lib/node_modules/x.js"),
    (".config/yarn/global/node_modules/.bin", ".config/yarn/token"), (".lmstudio/bin", ".lmstudio/credentials/x"),
    (".kube/bin", ".kube/config"), (".aws/bin", ".aws/credentials"), (".ssh/bin", ".ssh/id_ed25519"),
    (".gnupg/bin", ".gnupg/private-keys-v1.d/k"), ("tools", "tools/.env"), ("scripts", "scripts/.netrc"), ("sub/bin", "sub/.git/config"),
)  # fmt: skip
PROGRAMS_THEMSELVES = ("site-packages/x.py", "node_modules/x.js", ".wasmer/lib/x")


def test_credentials_beside_a_folder_of_programs_are_not_in_a_sandbox(tmp_path: Path) -> None:
    begun(tmp_path)
    home = tmp_path / "home"
    for folder, secret in BESIDE:
        (home / folder).mkdir(parents=True, exist_ok=True)
        program = home / folder / f"tool-{len(folder)}"
        program.write_text("#!/bin/sh\necho a tool\n")
        program.chmod(0o755)
        (home / secret).parent.mkdir(parents=True, exist_ok=True)
        (home / secret).write_text("beside-cred-77e0\n")
    (home / "work/venv/pyvenv.cfg").write_text("home = /usr/bin\n")
    path = os.pathsep.join([*dict.fromkeys(str(home / folder) for folder, _ in BESIDE), os.environ["PATH"]])
    done = acted(tmp_path, table(__file__, "programs"), PATH=path)
    seen = in_task(done, "found.txt")
    assert "(in no commit)" not in seen, done.end
    leaked = sorted(
        {line.removeprefix(str(home)) for line in seen.split() if not line.endswith(PROGRAMS_THEMSELVES)}
    )
    assert not leaked, leaked


# --- what sq obeys when it begins or begins again ---


@contextmanager
def started(
    root: Path, callers: Mapping[str, Any], *flags: str, **more: str
) -> Iterator[subprocess.Popen[str]]:
    """sq at work."""
    home, scenario, spec = root / "home", root / "scenario.yaml", root / "spec.md"
    scenario.write_text(
        yaml.safe_dump({"scenario": 1, "description": "hostile", "usage": {}, "callers": dict(callers)})
    )
    spec.write_text("# Notes\n\nCreate notes.txt with a line of text.\n")
    config = home / ".config" / "sq" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('[efforts.medium]\nreview_plan = false\npower_steering = "none"\n')
    with subprocess.Popen(
        [*SQ, "run", "--spec", str(spec), "--rehearse", str(scenario), *flags],
        cwd=root / "project", env=environ_of(home, **more), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


def environ_of(home: Path, **more: str) -> dict[str, str]:
    kept = {
        name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR", "LD_LIBRARY_PATH") if name in os.environ
    }
    return {**kept, "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", **more}


def wait_for(word: str, process: subprocess.Popen[str], seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while not _running(word):
        assert process.poll() is None, process.stdout.read() if process.stdout else ""
        assert time.monotonic() < deadline, "it never began"
        time.sleep(0.1)


def sq(project: Path, home: Path, *words: str, **more: str) -> str:
    done = subprocess.run(
        [*SQ, *words], cwd=project, env=environ_of(home, **more), capture_output=True, text=True, timeout=200, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return f"{done.returncode}\n{done.stdout}{done.stderr}"


def test_a_repository_whose_state_folder_is_a_link_changes_nothing_where_it_leads(tmp_path: Path) -> None:
    project = begun(tmp_path)
    precious = tmp_path / "home" / "precious"
    precious.mkdir()
    (precious / ".gitignore").write_text("mine\n")
    (project / ".sq").symlink_to("../home/precious")
    of_git(project, "add", "-f", ".sq")
    of_git(project, "commit", "-q", "-m", "State")
    scenario = callers_of(bash(CLAIM), DONE)
    with started(tmp_path, scenario, "--sandbox", "whole", "--verify", NOTICES) as process:
        output = process.communicate(timeout=200)[0]
    assert [one.name for one in precious.iterdir()] == [".gitignore"], output
    assert (precious / ".gitignore").read_text() == "mine\n"
    for words in (["status"], ["report"], ["resume"], ["clean", "--all"], ["doctor"]):
        sq(project, tmp_path / "home", *words)
    assert [one.name for one in precious.iterdir()] == [".gitignore"], output


def test_a_run_that_a_repository_brings_is_not_obeyed(tmp_path: Path) -> None:
    project, home, mark = begun(tmp_path), tmp_path / "home", tmp_path / "mark"
    (project / "sq.toml").write_text(
        f'[[notify]]\non = ["ended", "stuck"]\ncommand = "touch {mark}-notify"\n'
    )
    work = callers_of(bash("exec -a begun-271829 sleep 60"), bash(CLAIM), DONE)
    with started(
        tmp_path,
        work,
        "--sandbox",
        "off",
        "--verify",
        f"touch {mark}-verify; true",
        SQ_CONTAINMENT="supervisor",
    ) as process:
        wait_for("begun-271829", process)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert Path(f"{mark}-verify").exists()
    (project / "sq.toml").unlink()
    shutil.rmtree(home)
    home.mkdir()
    for link in [one for one in (project / ".sq").rglob("worktrees") if one.is_symlink()]:
        link.unlink()
        link.mkdir()
    for folder in [one for one in (project / ".sq").rglob("*") if one.is_dir() and not any(one.iterdir())]:
        (folder / ".keep").touch()  # git knows no empty folders
    of_git(project, "add", "-f", ".sq")
    of_git(project, "commit", "-q", "-m", "State")
    of_git(tmp_path, "clone", "-q", str(project), str(tmp_path / "clone"))
    shutil.rmtree(project)
    (tmp_path / "clone").rename(project)
    of_git(project, "config", "user.name", "x")
    of_git(project, "config", "user.email", "x@localhost")
    for one in tmp_path.glob("mark*"):
        one.unlink()
    said = ""
    for words in (["status"], ["report"], ["logs"], ["resume"], ["clean", "--all"]):
        said += f"== {words}\n{sq(project, home, *words)}"
    assert not list(tmp_path.glob("mark*")), said


# --- shares of the machine ---


@contextmanager
def holding(policy: SandboxPolicy, workspace: Path, program: str) -> Iterator[int]:
    """A sandbox that holds what it took, and how much."""
    with control_groups(f"byways-{os.getpid()}", SandboxLimits()) as groups:
        if groups.limits != {"memory", "processes", "cpu"}:
            pytest.skip("not every control group can be made here")
        inside = replace(policy, groups=groups)
        needs = Needs(workspace=workspace, scratch=workspace.parent / "scratch", path=os.environ["PATH"])
        plan = inside.plan(needs)
        words = contained(
            bubblewrapped(["python3", "-c", program], plan), detect_containment(), limits=plan.limits
        )
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            line = process.stdout.readline()
            try:
                yield int(line.split()[1]) if line else -1
            finally:
                process.communicate("\n", timeout=60)


def busy() -> float:
    """Seconds for a piece of work on one processor."""
    began = time.monotonic()
    total = 0
    for number in range(3_000_000):
        total += number
    return time.monotonic() - began


def test_a_sandbox_takes_no_more_than_a_share_of_the_processors(
    policy: SandboxPolicy, repository: Path
) -> None:
    alone = min(busy() for _ in range(3))
    with holding(policy, repository, table(__file__, "shares")["burns"]):
        beside = busy()
    assert beside < alone * 20, (alone, beside)  # it was 37, and other tests may run beside it


OPEN = {
    "terminals": "sandboxes share one number of terminals, which bubblewrap's /dev/pts does not bound",
    "flying": "descriptors in flight are counted for a user, by the sender's limit of open files",
}


@pytest.mark.parametrize(
    ("takes", "needs_it"),
    [
        ("queues", "queue"),
        pytest.param("terminals", "terminal", marks=pytest.mark.xfail(reason=OPEN["terminals"])),
        pytest.param("flying", "flight", marks=pytest.mark.xfail(reason=OPEN["flying"])),
    ],
)
def test_what_a_sandbox_holds_of_the_kernel_others_still_get(
    takes: str, needs_it: str, policy: SandboxPolicy, repository: Path, tmp_path: Path
) -> None:
    shares = table(__file__, "shares")
    if takes == "flying" and os.geteuid() == 0:
        pytest.skip("root is not counted")

    def works() -> bool:
        words = [sys.executable, "-c", shares[needs_it]]
        if takes == "terminals":  # those outside have a share of their own, so ask in another sandbox
            other = Needs(workspace=repository, scratch=tmp_path / "scratch-2", path=os.environ["PATH"])
            plan = policy.plan(other)
            words = contained(
                bubblewrapped(["python3", "-c", shares[needs_it]], plan),
                detect_containment(),
                limits=plan.limits,
            )
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        assert "works" in done.stdout, done.stderr
        return done.stdout.split() == ["works", "1"]

    assert works()
    with holding(policy, repository, shares[takes]) as taken:
        held = works()
    assert held, taken
