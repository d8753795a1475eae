"""Texts that act where they are shown without escaping: in a terminal, in HTML, in Markdown, in XML, in CI."""

import random
from functools import cache

# Each acts in at least one output. Together they are put into one text, at its start, its end, within words.
FRAGMENTS = (
    "\x1b]0;owned\x07", "\x1b[2J", "\x1b[31m", "\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\", "\x9b2J",
    "\x1b]52;c;cm0gLXJm\x07", "\r", "\x08\x08\x08", "\x07", "\x00", "\x7f", "\x0c", "\x0b",
    "\u202e", "\u2066", "\u2069", "\u200b", "\u200d", "\ufeff", "\u2028", "\u00ad", "\ud800", "\U000e0041",
    "<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "</script><script>alert(1)</script>",
    "<svg/onload=alert(1)>", "<iframe src=https://evil.example>", "<a href=javascript:alert(1)>x</a>",
    "</style><style>*{display:none}</style>", "</title><h1>owned</h1>", "</textarea>", "</details></section>",
    "<style>@import 'https://evil.example/x.css'</style>", "<meta http-equiv=refresh content='0;https://evil.example'>",
    "<base href=https://evil.example/>", "<form action=https://evil.example><button>go</button></form>",
    "<div hx-get=https://evil.example hx-trigger=load>", "<b hx-on:click=alert(1)>", "<link rel=stylesheet href=//evil>",
    "&lt;img src=x onerror=alert(1)&gt;", "&#60;script&#62;", "&amp;", "&", "<!--", "-->", "--!>", "<!-- x -->", "<![CDATA[",
    "]]>", "<?xml version='1.0'?>", "<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>", "&e;",
    "'", '"', "' onmouseover='alert(1)", '" onmouseover="alert(1)', "` onmouseover=`", "`", "``", "```", "````", "~~~",
    "```\n</details>\n<img src=x>", "\n\n<img src=x onerror=alert(1)>\n\n", "\n# Heading\n", "\n---\n", "\n===\n",
    "\n- [ ] item\n", "\n> quote\n", "\n| a | b |\n|---|---|\n| c | d |\n", "|", "\\", "\\`", "\\|", "\t", "\n    code\n",
    "[x](javascript:alert(1))", "[x](https://evil.example)", "![x](https://evil.example/pixel.png)", "<https://evil.example>",
    "https://evil.example", "www.evil.example", "[x]: https://evil.example", "[^1]", "**bold**", "__x__", "~~x~~", "$x$",
    "@everyone", "@octocat", "@org/team", "#1", "GH-1", "org/repo#1", "fixes #1", "closes https://github.com/o/r/issues/1",
    "::error::owned", "::set-output name=x::y", "\n::add-mask::x\n", "##[group]", "%0A::error::x", "::stop-commands::x",
    "<!-- sq:run=another -->", "[skip ci]", "{{ 7 * 7 }}", "{% raw %}", "${{ secrets.TOKEN }}", "${IFS}", "$(id)", "%s", "%n",
    "javascript:alert(1)", "data:text/html,<script>alert(1)</script>", "file:///etc/passwd", "\u2024\u2024/", "../../etc/passwd",
    "\ufffe", "\uffff", "\x85", "e\u0301" * 20, "\u0d7c\u200d", "🏳️‍🌈", "ﷺ", "A" * 500, "",
)  # fmt: skip
_WORDS = (
    "the test",
    "cart",
    "discount",
    "passes",
    "and",
    "is",
    "of",
    "spec",
    "42",
    "ok",
    "done.",
    "über",
    "日本語",
)


@cache
def hostile_texts(count=10_000):
    """`count` different texts, always the same ones. The first are the fragments alone."""
    chosen = random.Random(17)  # noqa: S311  texts, not secrets
    texts = dict.fromkeys(FRAGMENTS)
    while len(texts) < count:
        parts = chosen.choices(FRAGMENTS, k=chosen.randint(1, 4)) + chosen.choices(
            _WORDS, k=chosen.randint(0, 4)
        )
        chosen.shuffle(parts)
        texts["".join(part + chosen.choice(("", "", " ", "\n")) for part in parts)] = None
    return tuple(texts)[:count]
