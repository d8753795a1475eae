"""The addresses of the page and the answer to each. Only `word`, with `--control`, changes anything."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import anyio.lowlevel
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from orchestrator.git.trees import is_hash
from orchestrator.views.html.amounts import diff_lines
from orchestrator.views.html.environment import style
from orchestrator.views.models.history import RunFacts
from orchestrator.views.models.work import changed_files, patch_of
from orchestrator.views.page import pages
from orchestrator.views.page.followed import FollowedRun, Regions, Render
from orchestrator.views.page.pages import KINDS, PAGE, found_events, is_about, one_event, whole_text
from orchestrator.views.page.runs import Runs, list_stream, run_stream
from orchestrator.views.page.sections import links, part, rendered
from orchestrator.views.page.sessions import WORD, Control
from state.errors import GitError, JournalError, SqError, UsageError
from state.journal import events as e

_ASSETS = Path(__file__).parent / "assets"
# A finished report has its style inside and no script. Its own policy is stricter there.
_REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_TYPES = {".js": "text/javascript", ".css": "text/css"}
_BAD_REQUEST, _NOT_FOUND, _TOO_MANY = 400, 404, 503
_Crumbs = list[tuple[str, str]]
ReportOf = Callable[[Path], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class _Page:
    """A page of a run: its name among the tabs, and its regions."""

    key: tuple[object, ...]
    tab: str
    render: Render
    crumbs: tuple[str, ...] = ()


class Site:
    """Answers requests about the runs of a state folder."""

    def __init__(self, runs: Runs, report: ReportOf, control: Control | None = None) -> None:
        """Make the site.

        Args:
            report: makes the report of the run in a folder, as `sq report` writes it.
            control: takes words to runs. Without it the site only reads.
        """
        self._runs = runs
        self._control = control
        self._report = report

    def app(self) -> Starlette:
        """Return the app. It has to stand behind a guard."""
        routes = {
            "/": self._list,
            "/stream": self._list_stream,
            "/assets/{name:path}": self._asset,
            "/run/{run}": self._page,
            "/run/{run}/task/{task}": self._page,
            "/run/{run}/decisions": self._page,
            "/run/{run}/stream": self._stream,
            "/run/{run}/events": self._events,
            "/run/{run}/event/{seq:int}": self._event,
            "/run/{run}/call/{call}": self._call,
            "/run/{run}/diff/{commit}": self._diff,
            "/run/{run}/diff/{commit}/{number:int}": self._patch,
            "/run/{run}/report": self._run_report,
        }
        words = [Route(f"/run/{{run}}/{WORD}", self._word, methods=["POST"])] if self._control else []
        return Starlette(
            routes=[*(Route(path, endpoint) for path, endpoint in routes.items()), *words],
            exception_handlers={HTTPException: _error, SqError: _broken},
        )

    async def _list(self, request: Request) -> Response:
        return await _html(request, "Runs", [], "/stream", self._list_regions)

    async def _list_stream(self, request: Request) -> Response:
        self._refuse_many()
        del request
        return list_stream(self._runs, self._list_regions)

    def _list_regions(self) -> Regions:
        summaries, more = self._runs.summaries()
        return pages.runs_region(summaries, more, self._runs.place)

    async def _asset(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name == "base.css":
            return Response(style(name) + style("sections.css"), media_type="text/css")
        if name not in _assets():
            raise HTTPException(_NOT_FOUND)
        return Response((_ASSETS / name).read_bytes(), media_type=_TYPES[Path(name).suffix])

    async def _page(self, request: Request) -> Response:
        run = self._run(request)
        page = _page_of(run, request.path_params.get("task"), request.url.path, _number(request, "attempt"))
        run_id = run.folder.name
        asked = f"page={part(str(page.key[0]))}" + (
            f"&task={part(str(page.key[1]))}&attempt={page.key[2]}" if page.key[0] == "task" else ""
        )
        tabs = rendered("tabs", here=page.tab, **links(run_id))

        def regions() -> Regions:
            shown = run.regions(page.key, page.render)
            return {"": tabs + (self._control.form(run) if self._control else ""), **shown}

        crumbs = [*_crumbs(run_id, *page.crumbs)]
        return await _html(request, run_id, crumbs, f"/run/{part(run_id)}/stream?{asked}", regions)

    async def _word(self, request: Request) -> Response:
        if self._control is None:
            raise HTTPException(_NOT_FOUND)
        run = self._run(request)
        try:
            return await self._control.take(request, run)
        except UsageError as error:
            run_id = run.folder.name
            parts = (
                rendered("shell_start", title=run_id, crumbs=_crumbs(run_id), stream=""),
                rendered("tabs", here="", **links(run_id)),
                rendered("whole", title="Nothing was done", text=str(error)),
                rendered("shell_end"),
            )
            return HTMLResponse("".join(parts), _BAD_REQUEST)

    async def _stream(self, request: Request) -> Response:
        self._refuse_many()
        run = self._run(request)
        asked = request.query_params
        kind = asked.get("page", "overview")
        path = f"/{kind}" if kind == "decisions" else ""
        task = asked.get("task", "") if kind == "task" else None
        page = _page_of(run, task, path, _number(request, "attempt"))
        return run_stream(self._runs, run.folder.name, page.key, page.render)

    async def _events(self, request: Request) -> Response:
        run, asked = self._run(request), request.query_params
        name, task = asked.get("name", ""), asked.get("task", "")
        if (name and name not in KINDS) or (task and task not in run.story.view.tasks):
            raise HTTPException(_NOT_FOUND)
        is_plain = "after" not in asked and not (name or task)
        after = max(0, run.seq - PAGE) if is_plain else _number(request, "after")
        kinds = (KINDS[name],) if name else ()
        found = await found_events(run.folder, after, is_about(run.story.view, task), kinds)
        body = pages.events_part(run, found, after=after, name=name, task=task)
        return await self._still(request, run, "Events", body)

    async def _event(self, request: Request) -> Response:
        run, seq = self._run(request), request.path_params["seq"]
        if not 0 < seq <= run.seq or (stored := one_event(run.folder, seq)) is None:
            raise HTTPException(_NOT_FOUND)
        title = f"Event {seq}: {type(stored.event).__name__}"
        return await self._still(
            request, run, "Events", rendered("whole", title=title, text=whole_text(stored))
        )

    async def _call(self, request: Request) -> Response:
        run, call_id = self._run(request), request.path_params["call"]
        if call_id not in run.story.view.calls:
            raise HTTPException(_NOT_FOUND)
        after = _number(request, "after")
        begun = next((span.seq for span in run.story.history.spans if span.key == call_id), 0)
        found = await found_events(
            run.folder,
            max(after, begun),
            lambda one: isinstance(one.event, e.MessageReceived) and one.event.call_id == call_id,
            (e.MessageReceived,),
        )
        return await self._still(request, run, "", pages.call_part(run, call_id, found, after=after))

    async def _diff(self, request: Request) -> Response:
        run, commit, base = self._commit(request)
        problem = ""
        try:
            files = await changed_files(run.folder, base, commit)
        except GitError as error:
            files, problem = [], str(error)
        values = {"commit": commit, "base": base, "files": files, "problem": problem}
        body = rendered("diff", **values, **links(run.folder.name))
        return await self._still(request, run, "", body)

    async def _patch(self, request: Request) -> Response:
        run, commit, base = self._commit(request)
        files, number = await changed_files(run.folder, base, commit), request.path_params["number"]
        if number >= len(files):
            raise HTTPException(_NOT_FOUND)
        path = files[number].path
        patch = await patch_of(run.folder, base, commit, path)
        body = rendered("patch", path=path, rows=diff_lines(patch), **links(run.folder.name))
        return await self._still(request, run, None, body)

    async def _run_report(self, request: Request) -> Response:
        run = self._run(request)
        text = await self._report(run.folder)
        return HTMLResponse(text, headers={"content-security-policy": _REPORT_POLICY})

    async def _still(self, request: Request, run: FollowedRun, tab: str | None, body: str) -> Response:
        """Answer with a page that does not follow the run. Without a tab it has the body alone."""
        run_id = run.folder.name
        tabs = "" if tab is None else rendered("tabs", here=tab, **links(run_id))
        return await _html(request, run_id, _crumbs(run_id), "", lambda: {"": tabs, "body": body})

    def _run(self, request: Request) -> FollowedRun:
        """Return the run that an address names.

        Raises:
            HTTPException: there is none.
        """
        if run := self._runs.get(request.path_params["run"]):
            return run
        raise HTTPException(_NOT_FOUND)

    def _commit(self, request: Request) -> tuple[FollowedRun, str, str]:
        run, commit = self._run(request), request.path_params["commit"]
        base = _named_commits(run.story).get(commit)
        if base is None:
            raise HTTPException(_NOT_FOUND)
        return run, commit, base

    def _refuse_many(self) -> None:
        if self._runs.is_full:
            raise HTTPException(_TOO_MANY, headers={"retry-after": "10"})


def _page_of(run: FollowedRun, task: str | None, path: str, attempt: int) -> _Page:
    """Return the page of a run that an address means.

    Raises:
        HTTPException: it has no such task.
    """
    if task is not None:
        if task not in run.story.view.tasks:
            raise HTTPException(_NOT_FOUND)
        render = partial(pages.task_regions, task_id=task, attempt=attempt)
        return _Page(("task", task, attempt), "", render, ("task", task))
    if path.endswith("/decisions"):
        return _Page(("decisions",), "Decisions", pages.decisions_regions)
    return _Page(("overview",), "Overview", pages.overview_regions)


def _named_commits(story: RunFacts) -> dict[str, str]:
    """Return the commits of a run that hold work, each with the commit that it is compared with."""
    found = {}
    for stored in story.history.notable:
        event = stored.event
        if isinstance(event, e.TaskCommitted):
            found[event.commit] = story.view.tasks[event.task_id].place.base_commit
        elif isinstance(event, e.MergeBuilt):
            found[event.commit] = event.onto
    return {commit: base for commit, base in found.items() if is_hash(commit) and is_hash(base)}


def _crumbs(run_id: str, *more: str) -> _Crumbs:
    return [("Runs", "/"), (run_id, f"/run/{part(run_id)}" if more else ""), *((one, "") for one in more[1:])]


def _number(request: Request, name: str) -> int:
    """Return a number of the query, 0 if it is missing or none."""
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 18 else 0  # noqa: PLR2004  fits SQLite


def _assets() -> frozenset[str]:
    return frozenset(str(file.relative_to(_ASSETS)) for file in _ASSETS.rglob("*") if file.suffix in _TYPES)


async def _html(
    request: Request, title: str, crumbs: _Crumbs, stream: str, regions: Callable[[], Regions]
) -> Response:
    """Answer with a page. Its beginning goes out before the regions are made."""
    if request.method == "HEAD":
        return Response(media_type="text/html")

    async def body() -> AsyncIterator[str]:
        yield rendered("shell_start", title=title, crumbs=crumbs or [("Runs", "")], stream=stream)
        await anyio.lowlevel.checkpoint()
        yield "".join(regions().values())
        yield rendered("shell_end")

    return StreamingResponse(body(), media_type="text/html")


async def _error(request: Request, error: Exception) -> Response:
    del request
    if not isinstance(error, HTTPException):
        raise error
    words = {_NOT_FOUND: "There is no such page.", _TOO_MANY: "There are too many streams."}
    text = words.get(error.status_code, "This cannot be answered.")
    return Response(f"{text}\n", error.status_code, headers=error.headers, media_type="text/plain")


async def _broken(request: Request, error: Exception) -> Response:
    """Answer for a journal that cannot be read, and for work that git no longer has."""
    del request
    words = "The journal cannot be read" if isinstance(error, JournalError) else "This cannot be shown"
    text = rendered("whole", title=words, text=str(error))
    return HTMLResponse(text, status_code=500)
