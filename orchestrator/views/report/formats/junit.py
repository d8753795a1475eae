"""The report as JUnit XML: each criterion, each command and the outcome of the run is a test case."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

from orchestrator.views.models.criteria import CriterionRow, CriterionState
from orchestrator.views.models.evidence import CommandFacts
from orchestrator.views.report.contents import ReportContents
from state.hidden import visible
from state.outcome import Outcome

_NO_CHARACTER = re.compile("[\ufffe\uffff]")  # of XML, beside those that `visible` shows


def junit(report: ReportContents) -> str:
    """Return the XML. A criterion without proof never counts as passed: it is skipped, or it failed."""
    suites = ET.Element("testsuites", {"name": "sq"})
    _suite(suites, "outcome", [lambda into: _outcome(into, report)])
    _suite(suites, "criteria", [_criterion_of(report, row) for row in report.criteria])
    _suite(suites, "verification", [_command_of(one) for one in report.commands])
    ET.indent(suites)
    return f"<?xml version='1.0' encoding='UTF-8'?>\n{ET.tostring(suites, encoding='unicode')}\n"


def _suite(suites: ET.Element, name: str, cases: list[Callable[[ET.Element], None]]) -> None:
    suite = ET.SubElement(suites, "testsuite", {"name": name})
    for write in cases:
        write(suite)
    for attribute, tag in (("failures", "failure"), ("skipped", "skipped")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("tests", str(len(suite)))
    suite.set("errors", "0")


def _outcome(suite: ET.Element, report: ReportContents) -> None:
    case = _case(suite, "run", f"run {report.run_id}", report.times.seconds)
    head = report.headline
    words = f"{head.word}: {head.why or head.sentence}"
    if head.outcome is None or head.rehearsal or (head.draft and head.outcome is Outcome.COMPLETE):
        ET.SubElement(case, "skipped", {"message": _text(f"rehearsal, {words}" if head.rehearsal else words)})
    elif head.outcome is not Outcome.COMPLETE:
        ET.SubElement(case, "failure", {"message": _text(words), "type": head.outcome})


def _criterion_of(report: ReportContents, row: CriterionRow) -> Callable[[ET.Element], None]:
    def write(suite: ET.Element) -> None:
        case = _case(suite, report.spec.name or "spec", f"{row.id} {row.text}", None)
        told = "; ".join(f"{one.kind} {one.ref}: {_holds(one.holds)}" for one in row.evidence)
        message = {"message": _text(f"{row.standing}: {row.note or row.words or 'no reason was given'}")}
        match row.standing:
            case CriterionState.PROVEN:
                pass
            case CriterionState.NOT_MET:
                ET.SubElement(case, "failure", {**message, "type": "not met"})
            case _:
                ET.SubElement(case, "skipped", message)
        if told:
            ET.SubElement(case, "system-out").text = _text(told)

    return write


def _holds(holds: bool | None) -> str:
    return {True: "holds", False: "does not hold", None: "could not be checked"}[holds]


def _command_of(one: CommandFacts) -> Callable[[ET.Element], None]:
    def write(suite: ET.Element) -> None:
        case = _case(suite, "verification", one.command, one.seconds)
        if not one.passed:
            names = ", ".join(one.names_failed) or f"exit code {one.exit_code}"
            ET.SubElement(case, "failure", {"message": _text(names), "type": "command"})

    return write


def _case(suite: ET.Element, owner: str, name: str, seconds: float | None) -> ET.Element:
    given = {"classname": _text(owner), "name": _text(name)}
    return ET.SubElement(suite, "testcase", given if seconds is None else {**given, "time": f"{seconds:.3f}"})


def _text(text: str) -> str:
    """Return a text in one line, without characters that XML does not have."""
    return _NO_CHARACTER.sub(lambda found: f"\\u{ord(found.group()):04x}", visible(text))
