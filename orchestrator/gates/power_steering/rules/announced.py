"""Whether the last message of a session announces a step of the agent's own that was not taken.

"Now I need to update the parser", "Next I'll run the tests", "remaining: the docs": with no question behind it.
A plan handed over, an offer, a condition, a negation, what others will do and what was done are none.
"""

import re
from collections.abc import Iterator

from orchestrator.gates.power_steering.rules.phrases import APOSTROPHE, phrases, whole

_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED = re.compile(r"`[^`\n]*`|\"[^\"\n]*\"|\u201c[^\u201d\n]*\u201d")
_SENTENCE = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])\s*(?=\S)(?<![0-9]\.)|\n+")
_I_WILL = rf"(?:I{APOSTROPHE}ll|I will|I{APOSTROPHE}m going to|I am going to|I{APOSTROPHE}m about to|we{APOSTROPHE}ll|we will)"
_I_MUST = r"(?:I|we) (?:still |now |also |then |next )*(?:need|have|want|plan|intend|ought)(?: now| still| also)? to"
_MUST = rf"(?:{_I_MUST}|(?:I|we) (?:still )?must|I should (?:now|next|still|also|then))"
_ACT = (
    r"(?!know\b)(?:me )?(?:now |then |next |also |first |quickly |go (?:ahead )?and |just |start (?:by|with) )*"
    r"[a-z]+"
)
_DONE = (
    r"(?:implemented|wired(?: up)?|finished|done|added|written|handled|updated|migrated|covered|fixed|tested"
    r"|ported|converted|cleaned up|removed|renamed|documented|verified|reviewed|committed|pushed|run)"
)
_LATER = r"(?:later|afterwards|next|tomorrow|in a (?:follow-?up|later|next|separate|second|further)\b.*)"
_OWN_STEP = phrases(
    rf"(?:now|next|then|first|so|okay|ok|alright|great|good|after that|finally|lastly)?,? ?(?:now )?let me {_ACT}",
    rf"let{APOSTROPHE}s (?:now |next |move on|continue|start|get|do|add|write|run|implement|update|fix)",
    rf"{_I_WILL}",
    _MUST,
    r"(?:now|next|then)(?: up)?,? (?:it is |it's )?(?:time|on) to \w+",
    r"(?:it is |it's )?time to \w+",
    r"(?:moving|continuing|proceeding|turning|going) (?:on )?(?:now )?(?:to|with) (?:the |step|phase|part)",
    r"(?:starting|beginning) (?:now )?(?:with|on|to) ",
    rf"(?:next|then|after that|later|afterwards|tomorrow),? (?:{_I_WILL}|I need|comes?|is|are|up|to)",
    r"next (?:up|steps?|thing|task|item|on (?:my|the) list)\b ?(?:is|are|:|,|-|\u2013|\u2014)",
    r"(?:remaining|left to do|still (?:open|missing|to do|left|pending|outstanding)|not done|to ?do)(?: work| tasks?"
    r"| steps?| items?)?(?: yet)?(?: now)? ?(?:is|are|:|\u2013|\u2014) ?\W*\w+",
    rf"(?:still|yet) (?:needs?|has|have|remains?) (?:to be {_DONE}|{_DONE}|\w+ing)",
    r"(?:still|yet) to (?:be )?(?:do|come|implement|add|write|fix|test|update|handle|cover|wire|port|convert)\w*",
    rf"(?:not|\w+n{APOSTROPHE}t) yet (?:been )?{_DONE}",
    rf"(?:not|\w+n{APOSTROPHE}t) (?:been )?{_DONE}(?: \w+){{0,3}}? yet",
    rf"(?:is|are|has|have)(?: not|n{APOSTROPHE}t) (?:been )?\w+(?:ed|en|ne|wn|lt|ut|de) yet",
    r"(?:is|are|remains?) (?:still )?(?:unfinished|incomplete|left to do|to be done|outstanding)",
    r"(?:there (?:is|are)|that leaves|which leaves|leaving|only) (?:still )?(?:the )?(?:\w+ ){0,4}?(?:left|remaining"
    r"|to go)\b",
    rf"(?:will|to) be {_DONE} {_LATER}",
    r"(?:left|leaving|leave|deferred|deferring|postponed)(?: \w+){0,4}? (?:for|to|until) "
    rf"(?:now|another \w+|{_LATER})",
    r"(?:going|about) to (?:now )?(?:start|begin|continue|run|fix|add|write|implement|update|check|look|refactor)",
)
_OWN_STEP_ELSEWHERE = re.compile(
    # German
    r"\b(?:ich (?:fange|beginne|schaue|sehe|pr\u00fcfe|gehe) (?:jetzt|nun|zuerst|als erstes|mit)|ich (?:werde|muss|m\u00f6chte|will) (?:jetzt|nun|noch|als n\u00e4chstes|danach|anschlie\u00dfend)"
    r"|(?:als n\u00e4chstes|jetzt|nun|danach|anschlie\u00dfend|zun\u00e4chst|nun noch|jetzt noch) (?:werde|muss|m\u00fcsste|schreibe|baue|f\u00fcge"
    r"|implementiere|passe|k\u00fcmmere|mache|teste|starte|gehe|pr\u00fcfe|aktualisiere|behebe|setze|erg\u00e4nze|kommt|fehlt|ist)\b"
    r"|es fehlt (?:jetzt |nun )?noch|es fehlen noch|noch (?:zu tun|offen|ausstehend)|n\u00e4chster schritt|weiter geht es mit|bleibt noch)"
    # French
    r"|\b(?:je (?:commence|vais commencer|continue|passe|reprends) (?:par|avec|\u00e0|au)|puis j['\u2019]\w+|je vais (?!vous\b|te\b)\w+|(?:maintenant|ensuite|\u00e0 pr\u00e9sent),? je (?:vais|dois|passe)"
    r"|il (?:me |nous )?reste (?:encore |\u00e0 )|je dois (?:encore|maintenant)|prochaine \u00e9tape|reste \u00e0 |passons \u00e0|je m'occupe maintenant)"
    # Spanish
    r"|\b(?:ahora (?:voy a|tengo que|necesito|debo|toca|falta)|(?:a continuaci\u00f3n|despu\u00e9s|luego),? (?:voy a|necesito|tengo que)"
    r"|(?:todav\u00eda|a\u00fan) (?:tengo que|falta|necesito|queda)|voy a (?!dejar|explicar|resumir)\w+"
    r"|me falta|solo falta|pr\u00f3ximo paso|siguiente paso|queda pendiente)"
    # Portuguese
    r"|\b(?:agora (?:vou|preciso|tenho que|falta)|em seguida,? vou|ainda (?:preciso|falta|tenho que)|vou (?!deixar|explicar|resumir)\w+"
    r"|pr\u00f3ximo passo|s\u00f3 falta|depois vou)"
    # Italian
    r"|\b(?:ora (?:devo|vado|passo|implemento|aggiungo)|adesso (?:devo|vado|passo)|poi devo|devo ancora|manca ancora|prossimo passo"
    r"|mi resta|procedo (?:ora|con))"
    # Dutch
    r"|\b(?:nu (?:ga|moet|zal) ik|vervolgens (?:ga|moet|zal) ik|ik (?:ga|moet|zal) (?:nu|nog|eerst)|volgende stap|nog te doen)"
    # Polish, Czech
    r"|\b(?:teraz (?:musz\u0119|zajm\u0119|dodam|napisz\u0119|przejd\u0119|zaimplementuj\u0119|poprawi\u0119)|nast\u0119pnie (?:musz\u0119|dodam|zajm\u0119|napisz\u0119)"
    r"|musz\u0119 jeszcze|pozosta\u0142o|zosta\u0142o jeszcze|nast\u0119pny krok|kolejny krok|te\u010f (?:mus\u00edm|udel\u00e1m|p\u0159id\u00e1m)|zb\u00fdv\u00e1)"
    # Swedish, Norwegian, Danish, Turkish
    r"|\b(?:nu (?:ska|m\u00e5ste|skal) (?:jag|jeg)|n\u00e4sta steg|neste steg|n\u00e6ste skridt|jag ska nu|jeg skal n\u00e5"
    r"|\u015fimdi \w+ (?:ekleyece\u011fim|yapaca\u011f\u0131m|gerekiyor)|s\u0131rada|sonraki ad\u0131m)"
    # Russian, Ukrainian
    r"|(?:\u0442\u0435\u043f\u0435\u0440\u044c|\u0434\u0430\u043b\u0435\u0435|\u0441\u0435\u0439\u0447\u0430\u0441|\u0437\u0430\u0442\u0435\u043c),? (?:\u044f |\u043c\u043d\u0435 |\u043d\u0443\u0436\u043d\u043e |\u043d\u0430\u0434\u043e )|\u043e\u0441\u0442\u0430\u043b\u043e\u0441\u044c|\u0441\u043b\u0435\u0434\u0443\u044e\u0449\u0438\u0439 \u0448\u0430\u0433"
    # Japanese, Chinese, Korean
    r"|(?:\u6b21\u306b|\u307e\u305a|\u305d\u306e\u5f8c|\u305d\u306e\u3042\u3068|\u7d9a\u3044\u3066|\u3053\u308c\u304b\u3089|\u3042\u3068\u306f|\u307e\u3060|\u4eca\u304b\u3089|\u6b8b\u308a\u306f|\u3053\u306e\u3042\u3068)[^\u3002\n]*(?:\u307e\u3059|\u307e\u3057\u3087\u3046|\u5fc5\u8981|\u3067\u3059|\u3044\u304d|\u308b)"
    r"|(?:\u63a5\u4e0b\u6765|\u73b0\u5728|\u7136\u540e|\u4e0b\u4e00\u6b65|\u7a0d\u540e|\u968f\u540e)[^\u3002\n]{0,6}(?:\u6211|\u9700\u8981|\u8981|\u5c06|\u4f1a|\u662f)|\u6211(?:\u8fd8|\u4ecd)?(?:\u9700\u8981|\u8981|\u5c06|\u4f1a|\u6765)|\u8fd8(?:\u9700\u8981|\u5269|\u6ca1|\u5dee)|\u5269\u4e0b"
    r"|(?:\uc774\uc81c|\ub2e4\uc74c\uc73c\ub85c|\uadf8\ub2e4\uc74c|\uc544\uc9c1)[^.\n]*(?:\uaca0\uc2b5\ub2c8\ub2e4|\ud569\ub2c8\ub2e4|\ud574\uc57c|\ub0a8\uc558)",
    re.IGNORECASE,
)
_HEADING_OF_WHAT_IS_LEFT = whole(
    r"remaining(?: work| steps| items| tasks)?",
    r"still (?:to do|open|missing|left|pending)",
    r"left to do",
    r"not (?:yet )?done(?: yet)?",
    r"unfinished(?: work)?",
    rf"what{APOSTROPHE}s (?:left|missing|next)",
    r"what (?:is|remains) (?:left|missing|next|to do|open)",
    r"to ?do",
    r"outstanding(?: work| items)?",
    r"open (?:items|work)",
    r"pending(?: work| items| tasks)?",
    r"noch (?:offen|zu tun)", r"reste \u00e0 faire", r"pendiente", r"pendente", r"\u6b8b\u4f5c\u696d", r"\u5f85\u529e",
)  # fmt: skip
_NOTHING = phrases(
    "no", "none", "nothing", "not needed", "n/a", "zero", "without", "never", "nichts", "rien", "nada"
)
_OFFER = phrases(
    rf"if you(?:{APOSTROPHE}d)? (?:like|want|prefer|wish|need|decide|agree|say|tell|give|confirm|run|see|ever)",
    r"(?:once|when|as soon as|after|unless|until|whenever) (?:you|the|that|it|your|someone|they)\b",
    r"if (?:the|that|it|this|any|there|anything|something|needed|desired|necessary|so|not)\b",
    r"let me know", r"happy to", r"would you like", r"want me to", r"could", r"should you",
    r"optional(?:ly)?", r"feel free",
    rf"you (?:can|may|might|could|should|will|{APOSTROPHE}ll|need|have)",
    r"I can", r"I could", r"in (?:the )?future", r"some ?day", r"at some point", r"would", r"might",
    r"wenn (?:du|sie|ihr)", r"falls (?:du|sie|ihr)", r"si (?:vous|tu|lo|quieres|usted)", r"se (?:quiser|voc\u00ea|vuoi)",
)  # fmt: skip
_OF_OTHERS = phrases(
    r"(?:you|they|he|she|CI|the (?:team|pipeline|reviewer|maintainers?|scheduler|job|bot|user|next release)) "
    r"(?:will|need|needs|have|has|must|should)",
)
_HABIT = phrases(  # a statement about how things are, not about what comes
    r"we need to (?:be|keep in mind|remember)", r"I need to (?:point out|mention|note|flag|stress|be (?:honest|clear))",
    r"I should (?:note|mention|point out|add that|say)", r"I will not", rf"I won{APOSTROPHE}t", r"I have to (?:say|admit|note)",
    r"I want to (?:note|mention|flag|point|be clear|stress|highlight)", r"let me (?:summari[sz]e|explain|recap|be clear)",
)  # fmt: skip
_ITEM = re.compile(r"\s*(?:[-*+\u2022]|\d{1,2}[.)])\s+\S")
_CLOSED_ITEM = re.compile(
    r"\s*(?:[-*+\u2022]|\d{1,2}[.)])\s+(?:\[x\]|\u2705|\u2713|\u2611|~~)", re.IGNORECASE
)


def announced_in(text: str) -> Iterator[str]:
    """The sentences, or items of a list, with which a message announces unfinished work of its own."""
    plain = _FENCED.sub("\n", text)
    lines = plain.splitlines()
    for number, line in enumerate(lines):
        if line.strip() and _HEADING_OF_WHAT_IS_LEFT.fullmatch(line):
            following = next((each for each in lines[number + 1 :] if each.strip()), "")
            closed = _NOTHING.search(following) or _CLOSED_ITEM.match(following)
            if _ITEM.match(following) and not closed and not _OFFER.search(following):
                yield following.strip()
    yield from (sentence.strip() for sentence in _SENTENCE.split(plain) if _announces(sentence))


def _announces(sentence: str) -> bool:
    words = _QUOTED.sub("x", sentence)
    if found := _OWN_STEP_ELSEWHERE.search(words):
        return not _OFFER.search(words) and not _NOTHING.search(words, 0, found.end())
    found = _OWN_STEP.search(words)
    if not found or _NOTHING.search(words, 0, found.end()):
        return False
    return not (_OFFER.search(words) or _OF_OTHERS.search(words) or _HABIT.search(words))
