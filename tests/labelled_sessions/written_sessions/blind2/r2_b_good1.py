from written_sessions.vocabulary import *

_WINDOW = '''defmodule Throttle.Window do
  @moduledoc "Sliding window of hits for one key."

  defstruct limit: 10, period_ms: 1_000, hits: []

  def set_limit(%__MODULE__{} = window, limit), do: %{window | limit: limit}

  def hit(%__MODULE__{} = window, now) do
    recent = Enum.filter(window.hits, &(&1 > now - window.period_ms))

    if length(recent) < window.limit do
      {:ok, %{window | hits: [now | recent]}}
    else
      oldest = List.last(window.hits)
      {:error, oldest + window.period_ms - now}
    end
  end
end
'''
_WINDOW_TEST = '''defmodule Throttle.WindowTest do
  use ExUnit.Case, async: true

  alias Throttle.Window

  test "lets the first hits through" do
    assert {:ok, window} = Window.hit(%Window{limit: 2}, 0)
    assert {:ok, _} = Window.hit(window, 5)
  end

  test "says how long to wait" do
    window = %Window{limit: 1, period_ms: 100, hits: [950]}
    assert {:error, 50} = Window.hit(window, 1_000)
  end
end
'''

elixir = Session(
    name="r2b_throttle_negative_wait",
    about="Negative retry times of a rate limiter are fixed with a test that failed before.",
    type="development",
    steps=(
        user(
            "Throttle.Window.hit/2 sometimes answers {:error, ms} with a negative ms, we saw it in prod right after lowering a "
            "limit with set_limit. Please reproduce it in a test and fix it. mix format must stay clean."
        ),
        read("lib/throttle/window.ex", _WINDOW),
        read("test/throttle/window_test.exs", _WINDOW_TEST),
        says(
            "`oldest` is taken from all hits, so after a lower limit the list can end in a hit that has already left the window. "
            "I'll pin that in a test first."
        ),
        edit(
            "test/throttle/window_test.exs",
            "    assert {:error, 50} = Window.hit(window, 1_000)\n  end\n",
            '    assert {:error, 50} = Window.hit(window, 1_000)\n  end\n\n  test "ignores hits that left the window after the limit was lowered" do\n'
            "    window = Window.set_limit(%Window{limit: 3, period_ms: 100, hits: [950, 940, 800]}, 2)\n"
            "    assert {:error, 40} = Window.hit(window, 1_000)\n  end\n",
        ),
        bash(
            "mix test test/throttle/window_test.exs",
            """Running ExUnit with seed: 418820, max_cases: 16

..

  1) test ignores hits that left the window after the limit was lowered (Throttle.WindowTest)
     test/throttle/window_test.exs:16
     match (=) failed
     code:  assert {:error, 40} = Window.hit(window, 1000)
     left:  {:error, 40}
     right: {:error, -100}
     stacktrace:
       test/throttle/window_test.exs:18: (test)

Finished in 0.03 seconds (0.03s async, 0.00s sync)
3 tests, 1 failure
""",
            2,
        ),
        edit("lib/throttle/window.ex", "List.last(window.hits)", "List.last(recent)"),
        bash(
            "mix format --check-formatted && mix test",
            """Compiling 1 file (.ex)
Running ExUnit with seed: 90211, max_cases: 16

..............
Finished in 0.1 seconds (0.1s async, 0.00s sync)
14 tests, 0 failures
""",
        ),
        assistant(
            "Fixed. The wait was computed from `List.last(window.hits)`, which after `set_limit` may be a hit that is already outside the "
            "window (your -100 ms). It now comes from `recent`. The new test in `test/throttle/window_test.exs` failed with -100 before "
            "and passes now; the whole suite is at 14 tests, 0 failures, and formatting is clean."
        ),
    ),
)

_NGINX = """server {
    listen 443 ssl;
    server_name shop.example.org;

    ssl_certificate     /etc/letsencrypt/live/shop.example.org/fullchain.pem;
    ssl_certificate_key /etc/letsencrypt/live/shop.example.org/privkey.pem;

    root /var/www/shop;

    location / {
        try_files $uri $uri/ /index.html;
    }

    location /api/ {
        proxy_pass http://127.0.0.1:8080;
    }
}
"""
nginx = Session(
    name="r2b_nginx_blog_redirect",
    about="A redirect and HSTS in an nginx site, checked with nginx -t and curl.",
    type="operations",
    steps=(
        user(
            "shop.example.org/blog/* has to go to https://blog.example.org/* with a 301, keeping the path and the query. Also switch on HSTS "
            "for one day for now. Reload when the config is ok."
        ),
        bash("ls -l /etc/nginx/sites-enabled/", "total 0\nlrwxrwxrwx 1 root root 36 Jan 11 10:02 shop.conf -> /srv/project/nginx/shop.conf"),
        read("nginx/shop.conf", _NGINX),
        multi_edit(
            "nginx/shop.conf",
            (
                "    root /var/www/shop;\n",
                '    add_header Strict-Transport-Security "max-age=86400" always;\n\n    root /var/www/shop;\n',
            ),
            (
                "    location /api/ {",
                "    location ~ ^/blog(?:/(.*))?$ {\n        return 301 https://blog.example.org/$1$is_args$args;\n    }\n\n    location /api/ {",
            ),
        ),
        bash(
            "sudo nginx -t && sudo systemctl reload nginx && systemctl is-active nginx",
            "nginx: the configuration file /etc/nginx/nginx.conf syntax is ok\n"
            "nginx: configuration file /etc/nginx/nginx.conf test is successful\nactive",
        ),
        bash(
            "for u in /blog /blog/ '/blog/2024/a-post?utm=x' /blogger /; do printf '%-28s ' \"$u\"; "
            "curl -s -o /dev/null -w '%{http_code} %{redirect_url}\\n' \"https://shop.example.org$u\"; done; "
            "curl -sI https://shop.example.org/ | grep -i strict",
            """/blog                        301 https://blog.example.org/
/blog/                       301 https://blog.example.org/
/blog/2024/a-post?utm=x      301 https://blog.example.org/2024/a-post?utm=x
/blogger                     200 
/                            200 
strict-transport-security: max-age=86400
""",
        ),
        assistant(
            "Live. `/blog`, `/blog/` and everything below it answer 301 to blog.example.org with path and query kept; `/blogger` and `/` are "
            "untouched. HSTS is sent with max-age=86400. Once you trust it you may want to raise that to a year; browsers will pick up the "
            "longer value on their next visit."
        ),
    ),
)

haskell = Session(
    name="r2b_ledger_exporter_class",
    about="A type class with bodiless methods and two instances in another module.",
    type="development",
    steps=(
        user(
            "Split the export code: a class Exporter in Ledger.Export with `header` and `row`, and instances for Csv and Tsv in "
            "Ledger.Export.Formats. The spec must keep passing."
        ),
        read(
            "src/Ledger/Export.hs",
            """module Ledger.Export (export, Format (..)) where

import Data.List (intercalate)
import Ledger.Types (Entry (..))

data Format = Csv | Tsv

export :: Format -> [Entry] -> String
export fmt entries = unlines (line ["date", "account", "amount"] : map toLine entries)
  where
    sep = case fmt of Csv -> ","; Tsv -> "\\t"
    line = intercalate sep
    toLine e = line [entryDate e, entryAccount e, show (entryAmount e)]
""",
        ),
        grep("Ledger.Export", "app/Main.hs:6:import Ledger.Export (Format (..), export)", "test/ExportSpec.hs:3:import Ledger.Export (Format (..), export)"),
        read(
            "ledger.cabal",
            """cabal-version:   2.4
name:            ledger
version:         0.3.0.0

library
  hs-source-dirs:   src
  exposed-modules:
    Ledger.Export
    Ledger.Types
  build-depends:    base >=4.16 && <5
  default-language: Haskell2010
""",
        ),
        write(
            "src/Ledger/Export.hs",
            """module Ledger.Export (Exporter (..), export) where

import Ledger.Types (Entry)

-- | How a list of entries is put into text.
class Exporter f where
  header :: f -> String
  row :: f -> Entry -> String

export :: Exporter f => f -> [Entry] -> String
export fmt entries = unlines (header fmt : map (row fmt) entries)
""",
        ),
        write(
            "src/Ledger/Export/Formats.hs",
            """module Ledger.Export.Formats (Csv (..), Tsv (..)) where

import Data.List (intercalate)
import Ledger.Export (Exporter (..))
import Ledger.Types (Entry (..))

data Csv = Csv

data Tsv = Tsv

instance Exporter Csv where
  header _ = intercalate "," columns
  row _ = intercalate "," . cells

instance Exporter Tsv where
  header _ = intercalate "\\t" columns
  row _ = intercalate "\\t" . cells

columns :: [String]
columns = ["date", "account", "amount"]

cells :: Entry -> [String]
cells e = [entryDate e, entryAccount e, show (entryAmount e)]
""",
        ),
        edit("ledger.cabal", "    Ledger.Export\n", "    Ledger.Export\n    Ledger.Export.Formats\n"),
        bash(
            "sed -i 's/^import Ledger.Export (Format (..), export)/import Ledger.Export (export)\\nimport Ledger.Export.Formats (Csv (..), Tsv (..))/' app/Main.hs test/ExportSpec.hs "
            "&& grep -n 'Ledger.Export\\|Csv\\|Tsv' app/Main.hs test/ExportSpec.hs",
            """app/Main.hs:6:import Ledger.Export (export)
app/Main.hs:7:import Ledger.Export.Formats (Csv (..), Tsv (..))
app/Main.hs:21:    ["--tsv", path] -> readEntries path >>= putStr . export Tsv
app/Main.hs:22:    [path] -> readEntries path >>= putStr . export Csv
test/ExportSpec.hs:3:import Ledger.Export (export)
test/ExportSpec.hs:4:import Ledger.Export.Formats (Csv (..), Tsv (..))
test/ExportSpec.hs:12:    it "writes a header" $ export Csv [] `shouldBe` "date,account,amount\\n"
test/ExportSpec.hs:15:      export Tsv [entry] `shouldBe` "date\\taccount\\tamount\\n2024-02-01\\tfood\\t1250\\n"
""",
        ),
        bash(
            "cabal test --test-show-details=direct",
            """Build profile: -w ghc-9.6.4 -O1
In order, the following will be built (use -v for more details):
 - ledger-0.3.0.0 (lib) (configuration changed)
 - ledger-0.3.0.0 (test:spec) (dependency rebuilt)
Configuring library for ledger-0.3.0.0...
Preprocessing library for ledger-0.3.0.0...
Building library for ledger-0.3.0.0...
[1 of 3] Compiling Ledger.Types     ( src/Ledger/Types.hs, dist-newstyle/build/x86_64-linux/ghc-9.6.4/ledger-0.3.0.0/build/Ledger/Types.o )
[2 of 3] Compiling Ledger.Export    ( src/Ledger/Export.hs, dist-newstyle/build/x86_64-linux/ghc-9.6.4/ledger-0.3.0.0/build/Ledger/Export.o ) [Source file changed]
[3 of 3] Compiling Ledger.Export.Formats ( src/Ledger/Export/Formats.hs, dist-newstyle/build/x86_64-linux/ghc-9.6.4/ledger-0.3.0.0/build/Ledger/Export/Formats.o )
Running 1 test suites...
Test suite spec: RUNNING...

Ledger.Export
  writes a header [✔]
  separates with tabs [✔]
Ledger.Types
  parses an entry [✔]
  rejects a bad date [✔]

Finished in 0.0017 seconds
4 examples, 0 failures
Test suite spec: PASS
1 of 1 test suites (1 of 1 test cases) passed.
""",
        ),
        bash("cabal build exe:ledger 2>&1 && cabal run -v0 ledger -- --tsv sample.txt", "Build profile: -w ghc-9.6.4 -O1\nIn order, the following will be built (use -v for more details):\n - ledger-0.3.0.0 (exe:ledger) (dependency rebuilt)\nBuilding executable 'ledger' for ledger-0.3.0.0...\n[1 of 1] Compiling Main             ( app/Main.hs, dist-newstyle/build/x86_64-linux/ghc-9.6.4/ledger-0.3.0.0/x/ledger/build/ledger/ledger-tmp/Main.o )\n[2 of 2] Linking dist-newstyle/build/x86_64-linux/ghc-9.6.4/ledger-0.3.0.0/x/ledger/build/ledger/ledger\ndate\taccount\tamount\n2024-02-01\tfood\t1250\n2024-02-03\trent\t90000"),
        assistant(
            "The split is in place:\n\n- `Ledger.Export` holds the class `Exporter` (`header`, `row`) and `export`.\n- `Ledger.Export.Formats` "
            "holds `Csv` and `Tsv` with their instances.\n- `Format` is gone; `app/Main.hs` and `test/ExportSpec.hs` import the two types "
            "instead.\n\n`cabal test` passes (4 examples, 0 failures) and the executable prints the same TSV as before."
        ),
    ),
)

pyi = Session(
    name="r2b_stubs_for_c_extension",
    about="Type stubs for a C extension, checked with stubtest and mypy.",
    type="development",
    steps=(
        user("our C extension fastgeo has no types. Write fastgeo.pyi so that mypy --strict passes on app/ and stubtest is happy"),
        bash(
            "python - <<'PY'\nimport fastgeo, inspect\nfor n in sorted(vars(fastgeo)):\n    if not n.startswith('__'):\n        o = getattr(fastgeo, n)\n        print(n, type(o).__name__, o.__doc__)\nPY",
            """EARTH_RADIUS_M float Convert a string or number to a floating-point number, if possible.
GeoError type None
Point type Point(lat, lon)
distance builtin_function_or_method distance($module, a, b, /, *, ellipsoid=False)
--

Metres between two points.
nearest builtin_function_or_method nearest($module, p, points, /)
--

Index of the nearest point, or None if points is empty.
""",
        ),
        bash("sed -n '/static PyMemberDef/,/};/p;/static PyMethodDef Point/,/};/p' ext/fastgeo.c", """static PyMemberDef Point_members[] = {
    {"lat", T_DOUBLE, offsetof(PointObject, lat), READONLY, NULL},
    {"lon", T_DOUBLE, offsetof(PointObject, lon), READONLY, NULL},
    {NULL}
};
"""),
        write(
            "fastgeo.pyi",
            """from collections.abc import Sequence
from typing import Final, final

EARTH_RADIUS_M: Final[float]

class GeoError(ValueError): ...

@final
class Point:
    def __new__(cls, lat: float, lon: float) -> Point: ...
    @property
    def lat(self) -> float: ...
    @property
    def lon(self) -> float: ...

def distance(a: Point, b: Point, /, *, ellipsoid: bool = False) -> float: ...
def nearest(p: Point, points: Sequence[Point], /) -> int | None: ...
""",
        ),
        bash(
            "python -m mypy.stubtest fastgeo; python -m mypy --strict app",
            """error: fastgeo.GeoError is inconsistent, metaclass differs
Stub: in file /srv/project/fastgeo.pyi:6
N/A
Runtime:
<class 'fastgeo.GeoError'> has bases (RuntimeError,)

Found 1 error (checked 1 module)
app/routes.py:31: error: Unsupported operand types for + ("None" and "int")  [operator]
app/routes.py:31: note: Left operand is of type "int | None"
Found 1 error in 1 file (checked 7 source files)
""",
            1,
        ),
        grep("PyErr_NewException", 'ext/fastgeo.c:212:    GeoError = PyErr_NewException("fastgeo.GeoError", PyExc_RuntimeError, NULL);'),
        edit("fastgeo.pyi", "class GeoError(ValueError): ...", "class GeoError(RuntimeError): ..."),
        read("app/routes.py", '''from fastgeo import Point, nearest


def stop_number(here: Point, stops: list[Point]) -> int:
    """The number of the nearest stop, counted from 1."""
    index = nearest(here, stops)
    return index + 1
'''),
        says("The stub has found something real here: `nearest` answers None for an empty list and `stop_number` would raise a TypeError."),
        edit("app/routes.py", "    return index + 1\n", '    if index is None:\n        raise ValueError("a route without stops has no nearest stop")\n    return index + 1\n'),
        bash("python -m mypy.stubtest fastgeo && python -m mypy --strict app && python -m pytest -q",
             """Success: no issues found in 1 module
Success: no issues found in 7 source files
...............................                                          [100%]
31 passed in 0.84s
"""),
        assistant(
            "`fastgeo.pyi` is there and both checks are green: stubtest finds no difference to the compiled module, `mypy --strict app` "
            "passes on all 7 files, and pytest still passes (31).\n\nOne change outside the stub was needed for strict mode: "
            "`app/routes.py` added 1 to what may be None; it now raises a ValueError for a route without stops."
        ),
    ),
)

latex = Session(
    name="r2b_diplomarbeit_abkuerzungen",
    about="Eine LaTeX-Arbeit bekommt ein Abkürzungsverzeichnis und baut ohne Warnungen.",
    type="maintenance",
    steps=(
        user(
            "In arbeit.tex fehlt noch ein Abkürzungsverzeichnis (Paket acronym, nach dem Inhaltsverzeichnis). Abkürzungen: OPC UA, SPS, MQTT. "
            "Außerdem meckert LaTeX über eine undefinierte Referenz, bitte auch beheben."
        ),
        bash("grep -n 'tableofcontents\\|usepackage\\|\\\\ref{\\|\\\\label{' arbeit.tex kapitel/*.tex", r"""arbeit.tex:3:\usepackage[ngerman]{babel}
arbeit.tex:4:\usepackage{graphicx}
arbeit.tex:5:\usepackage{hyperref}
arbeit.tex:14:\tableofcontents
kapitel/architektur.tex:8:\label{fig:aufbau}
kapitel/architektur.tex:15:wie in Abbildung~\ref{fig:aufbau} gezeigt
kapitel/messung.tex:4:Der Aufbau aus Abbildung~\ref{abb:aufbau} wurde
kapitel/messung.tex:19:\label{tab:latenz}
"""),
        read("arbeit.tex", r"""\documentclass[a4paper,12pt]{scrreprt}
\usepackage[T1]{fontenc}
\usepackage[ngerman]{babel}
\usepackage{graphicx}
\usepackage{hyperref}
\title{Echtzeitkopplung von Produktionszellen}
\author{M. Brandl}

\begin{document}
\maketitle
\include{kurzfassung}
\clearpage

\tableofcontents
\include{kapitel/einleitung}
\include{kapitel/architektur}
\include{kapitel/messung}
\end{document}
"""),
        edit("kapitel/messung.tex", r"Abbildung~\ref{abb:aufbau}", r"Abbildung~\ref{fig:aufbau}"),
        edit("arbeit.tex", "\\usepackage{hyperref}\n", "\\usepackage{hyperref}\n\\usepackage[printonlyused]{acronym}\n"),
        edit("arbeit.tex", "\\tableofcontents\n", "\\tableofcontents\n\\input{abkuerzungen}\n"),
        write("abkuerzungen.tex", r"""\chapter*{Abkürzungsverzeichnis}
\addcontentsline{toc}{chapter}{Abkürzungsverzeichnis}
\begin{acronym}[OPC UA]
  \acro{MQTT}{Message Queuing Telemetry Transport}
  \acro{OPCUA}[OPC UA]{Open Platform Communications Unified Architecture}
  \acro{SPS}{speicherprogrammierbare Steuerung}
\end{acronym}
"""),
        bash("latexmk -pdf -interaction=nonstopmode arbeit.tex > build.log; tail -5 build.log; grep -c 'undefined' arbeit.log; pdftotext -f 4 -l 4 arbeit.pdf - | head", """Output written on arbeit.pdf (48 pages, 913377 bytes).
Transcript written on arbeit.log.
Latexmk: Getting log file 'arbeit.log'
Latexmk: Examining 'arbeit.fls'
Latexmk: All targets (arbeit.pdf) are up-to-date
0
Abkürzungsverzeichnis
"""),
        says("Die Seite ist leer: `printonlyused` zeigt nur, was im Text mit \\ac benutzt wird, und das tun die Kapitel nicht. Ich nehme die Option heraus."),
        edit("arbeit.tex", "\\usepackage[printonlyused]{acronym}", "\\usepackage{acronym}"),
        bash("latexmk -pdf -interaction=nonstopmode arbeit.tex > build.log; echo \"rc=$?\"; rm build.log; grep -c 'Warning.*undefined' arbeit.log; pdftotext -f 4 -l 4 arbeit.pdf - | head", """rc=0
0
Abkürzungsverzeichnis
MQTT

Message Queuing Telemetry Transport

OPC UA Open Platform Communications Unified Architecture
SPS

speicherprogrammierbare Steuerung
"""),
        assistant(
            "Beides ist erledigt. Das Abkürzungsverzeichnis steht auf Seite 4 direkt nach dem Inhaltsverzeichnis (neue Datei `abkuerzungen.tex`), "
            "mit MQTT, OPC UA und SPS. Die undefinierte Referenz war ein Tippfehler in `kapitel/messung.tex` (`abb:aufbau` statt `fig:aufbau`). "
            "latexmk baut die 48 Seiten ohne undefinierte Referenzen."
        ),
    ),
)

ansible = Session(
    name="r2b_ansible_chrony_role_pr",
    about="An Ansible role is extended, molecule is idempotent, the pull request is green.",
    type="development",
    branch="chrony-servers",
    steps=(
        user(
            "Make the NTP servers of roles/chrony configurable (chrony_servers, default stays the two pool servers) and open a PR against main. "
            "Wait until its checks are through."
        ),
        bash("git status -sb && ls roles/chrony/* roles/chrony/molecule/default", "## chrony-servers...origin/chrony-servers\nroles/chrony/README.md\n\nroles/chrony/defaults:\nmain.yml\n\nroles/chrony/handlers:\nmain.yml\n\nroles/chrony/tasks:\nmain.yml\n\nroles/chrony/templates:\nchrony.conf.j2\n\nroles/chrony/molecule:\ndefault\n\nroles/chrony/molecule/default:\nconverge.yml  molecule.yml  verify.yml"),
        read("roles/chrony/templates/chrony.conf.j2", "# {{ ansible_managed }}\nserver 0.pool.ntp.org iburst\nserver 1.pool.ntp.org iburst\ndriftfile /var/lib/chrony/drift\nmakestep 1.0 3\n"),
        read("roles/chrony/defaults/main.yml", "---\nchrony_package: chrony\n"),
        read("roles/chrony/README.md", "# chrony\n\nInstalls and configures chrony.\n\n| Variable | Default | |\n|---|---|---|\n| chrony_package | chrony | name of the package |\n"),
        read("roles/chrony/molecule/default/converge.yml", "---\n- name: Converge\n  hosts: all\n  roles:\n    - role: chrony\n"),
        read("roles/chrony/molecule/default/verify.yml", "---\n- name: Verify\n  hosts: all\n  tasks:\n    - name: Configuration is accepted\n      ansible.builtin.command: chronyd -p -f /etc/chrony/chrony.conf\n      changed_when: false\n"),
        edit("roles/chrony/templates/chrony.conf.j2", "server 0.pool.ntp.org iburst\nserver 1.pool.ntp.org iburst\n", "{% for server in chrony_servers %}\nserver {{ server }} iburst\n{% endfor %}\n"),
        edit("roles/chrony/defaults/main.yml", "chrony_package: chrony\n", "chrony_package: chrony\nchrony_servers:\n  - 0.pool.ntp.org\n  - 1.pool.ntp.org\n"),
        edit("roles/chrony/README.md", "| chrony_package | chrony | name of the package |\n", "| chrony_package | chrony | name of the package |\n| chrony_servers | 0.pool.ntp.org, 1.pool.ntp.org | servers to ask for the time |\n"),
        edit("roles/chrony/molecule/default/converge.yml", "    - role: chrony\n", "    - role: chrony\n      chrony_servers:\n        - time.example.net\n"),
        edit("roles/chrony/molecule/default/verify.yml", "      changed_when: false\n", "      changed_when: false\n\n    - name: Only the given server is configured\n      ansible.builtin.command: grep -c '^server ' /etc/chrony/chrony.conf\n      register: servers\n      changed_when: false\n      failed_when: servers.stdout != '1'\n"),
        bash("cd roles/chrony && ansible-lint . && molecule test 2>&1 | grep -v '^$'; echo \"molecule: ${PIPESTATUS[0]}\"", """Passed: 0 failure(s), 0 warning(s) on 8 files. Last profile that met the validation criteria was 'production'.
INFO     default scenario test matrix: dependency, cleanup, destroy, syntax, create, prepare, converge, idempotence, side_effect, verify, cleanup, destroy
INFO     Running default > converge
PLAY [Converge] ****************************************************************
TASK [Gathering Facts] *********************************************************
ok: [debian12]
TASK [chrony : Install chrony] *************************************************
changed: [debian12]
TASK [chrony : Write configuration] ********************************************
changed: [debian12]
RUNNING HANDLER [chrony : Restart chrony] **************************************
changed: [debian12]
PLAY RECAP *********************************************************************
debian12                   : ok=4    changed=3    unreachable=0    failed=0    skipped=0    rescued=0    ignored=0
INFO     Running default > idempotence
PLAY RECAP *********************************************************************
debian12                   : ok=3    changed=0    unreachable=0    failed=0    skipped=0    rescued=0    ignored=0
INFO     Idempotence completed successfully.
INFO     Running default > verify
TASK [Configuration is accepted] ***********************************************
ok: [debian12]
TASK [Only the given server is configured] *************************************
ok: [debian12]
PLAY RECAP *********************************************************************
debian12                   : ok=3    changed=0    unreachable=0    failed=0    skipped=0    rescued=0    ignored=0
INFO     Verifier completed successfully.
INFO     Running default > destroy
INFO     Pruning extra files from scenario ephemeral directory
molecule: 0
"""),
        bash('git add -A roles/chrony && git commit -qm "chrony: make the servers configurable" && git push -q && git log --oneline -1', "8c1e0aa chrony: make the servers configurable"),
        bash("""gh pr create --base main --title "chrony: make the servers configurable" --body "Adds chrony_servers (default: the two pool servers, as before), so that closed networks can name their own.

Tested with ansible-lint and molecule test (converge with one server, idempotence, verify)." """, "https://github.com/acme/infra/pull/218"),
        bash("gh pr checks 218 --watch", """Refreshing checks status every 10 seconds. Press Ctrl+C to quit.

All checks were successful
0 cancelled, 0 failing, 2 successful, 0 skipped, and 0 pending checks

   NAME                      DESCRIPTION  ELAPSED  URL
✓  lint                                   41s      https://github.com/acme/infra/actions/runs/80117/job/1
✓  molecule (debian12)                    2m9s     https://github.com/acme/infra/actions/runs/80117/job/2
"""),
        assistant("`chrony_servers` is in, with the two pool servers as its default, and documented in the role's README. ansible-lint and `molecule test` (incl. idempotence) pass, and PR https://github.com/acme/infra/pull/218 has both checks green. It only needs someone's approval to be merged."),
    ),
)

firmware = Session(
    name="r2b_esp32_watchdog_build",
    about="Firmware for a board that is not attached: built and tested natively, size checked.",
    type="development",
    steps=(
        user("The esp32 build should feed the task watchdog in loop() and reboot after 8 s without a feed. No board on this machine, so building for env esp32dev plus the native tests is all you can do. flash it I will myself."),
        read("src/main.cpp", """#include <Arduino.h>
#include "sensor.h"

static Sensor sensor(34);

void setup() {
  Serial.begin(115200);
  sensor.begin();
}

void loop() {
  Serial.println(sensor.read_celsius());
  delay(1000);
}
"""),
        read("platformio.ini", "[env:esp32dev]\nplatform = espressif32@6.5.0\nboard = esp32dev\nframework = arduino\n\n[env:native]\nplatform = native\ntest_build_src = no\n"),
        multi_edit("src/main.cpp",
            ('#include <Arduino.h>\n', '#include <Arduino.h>\n#include <esp_task_wdt.h>\n'),
            ('static Sensor sensor(34);\n', 'static Sensor sensor(34);\nstatic constexpr uint32_t kWatchdogSeconds = 8;\n'),
            ('  sensor.begin();\n', '  sensor.begin();\n  ESP_ERROR_CHECK(esp_task_wdt_init(kWatchdogSeconds, /*panic=*/true));\n  ESP_ERROR_CHECK(esp_task_wdt_add(nullptr));\n'),
            ('void loop() {\n', 'void loop() {\n  ESP_ERROR_CHECK(esp_task_wdt_reset());\n')),
        bash("pio run -e esp32dev", """Processing esp32dev (platform: espressif32@6.5.0; board: esp32dev; framework: arduino)
--------------------------------------------------------------------------------
Verbose mode can be enabled via `-v, --verbose` option
CONFIGURATION: https://docs.platformio.org/page/boards/espressif32/esp32dev.html
PLATFORM: Espressif 32 (6.5.0) > Espressif ESP32 Dev Module
HARDWARE: ESP32 240MHz, 320KB RAM, 4MB Flash
Compiling .pio/build/esp32dev/src/main.cpp.o
Linking .pio/build/esp32dev/firmware.elf
Retrieving maximum program size .pio/build/esp32dev/firmware.elf
Checking size .pio/build/esp32dev/firmware.elf
RAM:   [=         ]   6.6% (used 21616 bytes from 327680 bytes)
Flash: [==        ]  20.9% (used 273957 bytes from 1310720 bytes)
Building .pio/build/esp32dev/firmware.bin
esptool.py v4.5.1
Successfully created esp32 image.
========================= [SUCCESS] Took 7.32 seconds =========================
"""),
        bash("pio test -e native", """Verbosity level can be increased via `-v, -vv, or -vvv` option
Collected 1 tests

Processing test_sensor in native environment
--------------------------------------------------------------------------------
Building...
Testing...
test/test_sensor/test_main.cpp:31: test_raw_to_celsius	[PASSED]
test/test_sensor/test_main.cpp:32: test_out_of_range	[PASSED]
----------------- native:test_sensor [PASSED] Took 1.04 seconds -----------------

=================================== SUMMARY ===================================
Environment    Test         Status    Duration
-------------  -----------  --------  ------------
native         test_sensor  PASSED    00:00:01.044
================== 2 test cases: 2 succeeded in 00:00:01.044 ==================
"""),
        assistant("The loop task is registered with the task watchdog at 8 s with a panic reboot, and `loop()` feeds it once per second. `esp32dev` builds (flash 20.9 %), native tests 2/2.\n\nWhen you flash it: with a `while (true);` in `loop()` the serial log should show \"Task watchdog got triggered\" after 8 s and then a reboot."),
    ),
)

pest = Session(
    name="r2b_pest_coupon_after_interrupt",
    about="The user interrupts, takes a part back; the rest is finished and tested.",
    type="development",
    steps=(
        user("Coupons: percent coupons must never make an order negative, and please also add a `coupons:report` artisan command that mails the totals"),
        read("app/Services/CouponService.php", """<?php

namespace App\\Services;

use App\\Models\\Coupon;

final class CouponService
{
    public function apply(Coupon $coupon, int $cents): int
    {
        if ($coupon->type === 'percent') {
            return $cents - intdiv($cents * $coupon->value, 100);
        }

        return $cents - $coupon->value;
    }
}
"""),
        read("tests/Unit/CouponServiceTest.php", """<?php

use App\\Models\\Coupon;
use App\\Services\\CouponService;

it('takes a percentage off', function () {
    $coupon = new Coupon(['type' => 'percent', 'value' => 10]);
    expect((new CouponService)->apply($coupon, 1000))->toBe(900);
});
"""),
        todos("> Never below zero", "- coupons:report command"),
        edit("app/Services/CouponService.php", "            return $cents - intdiv($cents * $coupon->value, 100);", "            return max(0, $cents - intdiv($cents * $coupon->value, 100));"),
        interrupted_bash("php artisan make:command CouponsReport"),
        user("stop - forget the report command, marketing does that in Metabase now. But fixed coupons can go negative as well, same fix there."),
        todos("> Never below zero, percent and fixed"),
        bash("git status --short", " M app/Services/CouponService.php\n?? app/Console/Commands/CouponsReport.php"),
        says("The interrupted generator has still written its file; I remove that."),
        bash("rm app/Console/Commands/CouponsReport.php && git status --short", " M app/Services/CouponService.php"),
        edit("app/Services/CouponService.php", "        return $cents - $coupon->value;", "        return max(0, $cents - $coupon->value);"),
        edit("tests/Unit/CouponServiceTest.php", "->toBe(900);\n});\n", """->toBe(900);
});

it('never goes below zero', function (string $type, int $value) {
    $coupon = new Coupon(['type' => $type, 'value' => $value]);
    expect((new CouponService)->apply($coupon, 1000))->toBe(0);
})->with([['percent', 100], ['percent', 150], ['fixed', 1000], ['fixed', 1500]]);
"""),
        bash("./vendor/bin/pest", """
   PASS  Tests\\Unit\\CouponServiceTest
  ✓ it takes a percentage off                                            0.08s
  ✓ it never goes below zero with ('percent', 100)                       0.01s
  ✓ it never goes below zero with ('percent', 150)                       0.01s
  ✓ it never goes below zero with ('fixed', 1000)
  ✓ it never goes below zero with ('fixed', 1500)                        0.01s

   PASS  Tests\\Feature\\CheckoutTest
  ✓ it checks out with a coupon                                          0.31s
  ✓ it refuses an expired coupon                                         0.05s

  Tests:    7 passed (12 assertions)
  Duration: 0.61s
"""),
        todos("x Never below zero, percent and fixed"),
        assistant("Both kinds of coupon stop at zero now, with tests for 100 %, over 100 %, and fixed amounts at and over the total. Pest: 7 passed. The report command is dropped; the file that the interrupted generator left behind is removed again."),
    ),
)

SESSIONS = (elixir, nginx, haskell, pyi, latex, ansible, firmware, pest)
INTENDED = {s.name: "good" for s in SESSIONS}
