"""Rules about a session's last words: work that is left for later, and questions that nobody needs."""

import re
from collections.abc import Iterator

from orchestrator.gates.power_steering.evidence import Evidence, only_offers
from orchestrator.gates.power_steering.rules.found import Found, met, unmet
from orchestrator.gates.power_steering.rules.phrases import APOSTROPHE, phrases, whole

_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_LATER = r"(?:later|afterwards|next|tomorrow|in a (?:follow-?up|later|next|separate|second|further)\b.*)"
_DONE = (
    r"(?:implemented|wired(?: up)?|finished|done|added|written|handled|updated|migrated|covered|fixed|tested)"
)
_I_WILL = rf"(?:I{APOSTROPHE}ll|I will|I{APOSTROPHE}m going to)"
_OWN_WORK_LEFT = phrases(
    rf"{_I_WILL} (?:\w+ ){{0,6}}?{_LATER}",
    r"(?:remaining|left to do|still (?:open|missing|to do)|not done)(?: work)?(?: yet)?\W*: ?\W*\w+",
    rf"{_I_WILL} (?:now |then )?(?:continue|move on|proceed)",
    rf"(?:next|then|after that|later|afterwards|tomorrow),? (?:{_I_WILL}|I need)",
    r"(?:I|we) (?:still|yet) (?:need|have) to",
    rf"(?:still|yet) (?:needs?|has|have|remains?) to be {_DONE}",
    rf"(?:not|\w+n{APOSTROPHE}t) yet (?:been )?{_DONE}",
    rf"(?:not|\w+n{APOSTROPHE}t) (?:been )?{_DONE}(?: \w+){{0,3}}? yet",
    rf"(?:is|are|has|have)(?: not|n{APOSTROPHE}t) (?:been )?\w+(?:ed|en|ne|wn|lt|ut|de) yet",
    r"(?:is|are|remains?) (?:still )?(?:unfinished|incomplete|left to do|to be done|outstanding)",
    rf"(?:will|to) be {_DONE} {_LATER}",
    r"(?:left|leaving|leave|deferred|deferring|postponed)(?: \w+){0,4}? (?:for|to|until) "
    rf"(?:now|another \w+|{_LATER})",
)
_HEADING_OF_WHAT_IS_LEFT = whole(
    r"remaining(?: work| steps| items| tasks)?",
    r"still (?:to do|open|missing|left)",
    r"left to do",
    r"not (?:yet )?done(?: yet)?",
    r"unfinished(?: work)?",
    rf"what{APOSTROPHE}s (?:left|missing)",
    r"to ?do",
    r"outstanding(?: work| items)?",
    r"open (?:items|work)",
)
_NOTHING = phrases("no", "none", "nothing", "not needed", "n/a", "zero", "without")
_OFFER = phrases(
    rf"if you(?:{APOSTROPHE}d)? (?:like|want|prefer|wish|need)",
    r"let me know",
    r"happy to",
    r"would you like",
    r"want me to",
    r"could",
    r"should you",
    r"optional(?:ly)?",
    r"feel free",
    rf"you (?:can|may|might|could|should|will|{APOSTROPHE}ll|need|have)",
    r"I can",
    r"if (?:needed|desired|necessary)",
)
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,2}[.)])\s+\S")
_CLOSED_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,2}[.)])\s+(?:\[x\]|✅|✓|☑|~~)", re.IGNORECASE)
_STEP = r"(?:proceed|continue|go (?:ahead|on)|start|begin|run|fix|implement|apply|write|add|update)"
_ASKS_FOR_LEAVE = phrases(
    r"(?:shall|should) I",
    rf"(?:may|can) I (?:now )?{_STEP}",
    rf"(?:do you want|would you like) me to (?:now )?{_STEP}",
    r"(?:ready|okay|ok) (?:for me )?to (?:proceed|continue|start|go)",
)


_IS_NEEDED = phrases(  # a choice, or what cannot be undone
    "or", "which", "delete", "drop", "push", "deploy", "publish", "release", "merge", "remove", "overwrite",
    "force", "restart", "send",
)  # fmt: skip


def next_steps(evidence: Evidence) -> Found | None:
    """The final message announces no unfinished work of the agent's own; offers and negations are none."""
    text = _FENCED.sub("\n", evidence.facts.final_text)
    if not text.strip():
        return None
    if left := next(_left(text), ""):
        return unmet("the final message leaves work of its own for later", left.strip())
    return met("the final message leaves nothing of its own for later")


def unneeded_questions(evidence: Evidence) -> Found | None:
    """The final message does not only ask for leave to go on."""
    if not evidence.facts.asks:
        return met("it did not end with a question")
    text = _FENCED.sub("\n", evidence.facts.final_text).strip()
    if only_offers(text):
        return met("it ended with an offer")
    last = next((each for each in reversed(_SENTENCE.split(text)) if each.strip()), "")
    if _ASKS_FOR_LEAVE.search(last) and not _IS_NEEDED.search(last):
        return unmet("it ended by asking for leave to go on", last.strip())
    return None


def _left(text: str) -> Iterator[str]:
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line.strip() and _HEADING_OF_WHAT_IS_LEFT.fullmatch(line):
            following = next((each for each in lines[number + 1 :] if each.strip()), "")
            closed = _NOTHING.search(following) or _CLOSED_ITEM.match(following)
            if _ITEM.match(following) and not closed:
                yield following
    for sentence in _SENTENCE.split(text):
        found = _OWN_WORK_LEFT.search(sentence)
        denied = found and _NOTHING.search(sentence, 0, found.end())
        if found and not denied and not _OFFER.search(sentence):
            yield sentence
