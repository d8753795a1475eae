"""Old statements of a test for which no new one stands: by them it may check less than it did."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from orchestrator.project.functions.form import Token
from orchestrator.project.functions.statements import Statement, words

_DEEPEST = 60  # nodes below one another that are compared
Tree = tuple[str, str, tuple["Tree", ...]]  # a token, with those inside it


@dataclass(frozen=True)
class Names:
    """The names that the files give, before and now."""

    before: frozenset[str]
    now: frozenset[str]


@dataclass
class Comparison:
    """The statements of one test that are gone or new, and which of them check less."""

    names: Names
    gone: list[Statement]
    new: list[Statement]
    used: frozenset[str]
    fresh: Sequence[Statement]
    is_data: bool = False
    renamed: dict[str, str] = field(default_factory=dict)

    def weaker(self) -> Iterator[Statement]:
        """Yield the old statements that no new one stands for, and new ones that switch a test off."""
        left, alone = list(self.new), []
        for old in self.gone:
            new = next((one for one in left if self._stands_for(one, old)), None)
            if new is None:
                alone.append(old)
            else:
                left.remove(new)
                if _switches_off(new) - _switches_off(old):
                    yield old
        moved = {one.tokens for one in self.fresh}
        checking = {one.unit for one in self.fresh if one.checks}
        values_of = [*left, *(one for one in self.fresh if one.unit not in checking)]
        spare = Counter(text for one in values_of for text in one.literals)
        for old in alone:
            if not self.is_data and old.tokens in moved:
                continue
            values = Counter(old.literals)
            if self.is_data or old.checks or old.loops or values - spare:
                yield old
            spare -= values
        left_before = any(_leaves(one) for one in self.gone)
        yield from (one for one in left if _switches_off(one) or (_leaves(one) and not left_before))

    def _stands_for(self, new: Statement, old: Statement) -> bool:
        """Whether a new statement checks what an old one did, other names and added entries aside."""
        before = dict(self.renamed)
        heads = list(new.around)
        grows = not (old.checks or self.is_data)
        fits = len(heads) == len(old.around)
        fits = fits and all(self._fits(a, b, grows=True) for a, b in zip(old.around, heads, strict=True))
        if fits and self._fits(old.tokens, new.tokens, grows=grows):
            return True
        self.renamed = before
        return False

    def _fits(self, old: Sequence[Token], new: Sequence[Token], *, grows: bool) -> bool:
        return self._alike(_tree(old), _tree(new), grows=grows, depth=0)

    def _alike(self, old: Tree, new: Tree, *, grows: bool, depth: int) -> bool:
        if old[0] != new[0] or depth > _DEEPEST:
            return False
        if old[0] == "id":
            return self._is_renamed(old[1], new[1])
        if old[1] != new[1]:
            return False
        if not (grows and words().fits("growing", old[1])):
            return len(old[2]) == len(new[2]) and all(
                self._alike(one, other, grows=grows, depth=depth + 1)
                for one, other in zip(old[2], new[2], strict=True)
            )
        rest = iter(new[2])
        return all(
            any(self._alike(one, other, grows=grows, depth=depth + 1) for other in rest) for one in old[2]
        )

    def _is_renamed(self, old: str, new: str) -> bool:
        """Whether a name stands for another one throughout: the files gave the old one, and give the new."""
        if old == new and old not in self.renamed:
            return new not in self.renamed.values()
        if old not in self.renamed and new not in self.renamed.values():
            if old in self.used or old not in self.names.before or new not in self.names.now:
                return False
            self.renamed[old] = new
        return self.renamed.get(old) == new


def _tree(tokens: Sequence[Token]) -> Tree:
    """Return tokens as a tree of the brackets among them."""
    stack: list[tuple[str, str, list[Tree]]] = [("(", "", [])]
    for kind, text in tokens:
        if kind == "(":
            stack.append((kind, text, []))
        elif kind == ")" and len(stack) > 1:
            own, type_, children = stack.pop()
            stack[-1][2].append((own, type_, tuple(children)))
        else:
            stack[-1][2].append((kind, text, ()))
    return ("(", "", tuple(child for one in stack for child in one[2]))


def _switches_off(one: Statement) -> frozenset[str]:
    return frozenset(text for kind, text in one.tokens if kind == "id" and words().fits("disabling", text))


def _leaves(one: Statement) -> bool:
    """Whether a statement ends a test early."""
    return bool(one.tokens) and one.tokens[0][1].startswith("return") and not one.around
