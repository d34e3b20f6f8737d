"""From what somebody typed to a query: words, "phrases", -without and actor:names; anything else is just text."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from whoosh import query

from shared.search.lexicon import Lexicon
from shared.search.schema import ACTOR, ALL, CHANNEL, DIRECTOR, TAG, TITLE
from shared.search.words import Word, stem, words

_MOST_ASKED = 32
_LONGEST = 1000
_LONGEST_PHRASE = 16
_MOST_LOOSE = 8
_FIELDS = {
    "title": TITLE, "tag": TAG, "tags": TAG, "actor": ACTOR, "actors": ACTOR, "cast": ACTOR,
    "director": DIRECTOR, "directors": DIRECTOR, "channel": CHANNEL,
}  # fmt: skip
_ASKED = re.compile(
    rf'(?P<minus>(?<!\S)-)?(?:(?P<field>{"|".join(_FIELDS)}):\s*)?(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))',
    re.IGNORECASE,
)
_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»＂", '"'))
_LESS = 0.5


@dataclass(frozen=True)
class Ask:
    """One thing asked for: words that stand side by side, anywhere or in one field."""

    words: tuple[Word, ...]
    field: str | None = None
    minus: bool = False
    phrase: bool = False

    @property
    def is_free(self) -> bool:
        """A word as people type it, with nothing said about it."""
        return self.field is None and not self.phrase and len(self.words) == 1


@dataclass(frozen=True)
class Question:
    """`is_open` says that the last word may not be finished yet."""

    asks: tuple[Ask, ...] = ()
    is_open: bool = False

    @property
    def wanted(self) -> list[Ask]:
        return [ask for ask in self.asks if not ask.minus]

    @property
    def unwanted(self) -> list[Ask]:
        return [ask for ask in self.asks if ask.minus]


@dataclass(frozen=True)
class Reading:
    """One way to understand a question: the query, and the terms to mark in what it finds."""

    query: Any
    marks: frozenset[str] = field(default_factory=frozenset)


def parse(text: str) -> Question:
    """Never fails; what is beyond the limits, or holds no words, is left out."""
    text = text[:_LONGEST].translate(_QUOTES)
    asks = []
    is_open = False
    for match in list(_ASKED.finditer(text))[:_MOST_ASKED]:
        quoted = match["phrase"]
        found = tuple(words(match["word"] if quoted is None else quoted)[:_LONGEST_PHRASE])
        if found:
            name = _FIELDS.get((match["field"] or "").lower())
            asks.append(Ask(found, field=name, minus=bool(match["minus"]), phrase=quoted is not None))
            is_open = match.end() == len(text) and asks[-1].is_free and not asks[-1].minus
    return Question(tuple(asks), is_open=is_open)


def strictly(question: Question) -> Reading:
    """Everything that was asked for."""
    return _all(question.wanted, [_query(ask) for ask in question.wanted])


def begun(question: Question, lexicon: Lexicon) -> Reading | None:
    """The same, where the last word is only the beginning of one in a title, tag or name; never in descriptions, where
    it would be that of nearly everything.
    """
    if not question.is_open:
        return None
    *others, last = question.wanted
    ends = lexicon.completions(last.words[0].text)
    if not ends:
        return None
    finished = query.Or([query.Term(name, term) for name, term in ends])
    reading = _all(question.wanted, [*map(_query, others), finished])
    return Reading(reading.query, reading.marks | {term for _, term in ends})


def corrected(question: Question, lexicon: Lexicon) -> tuple[Question, Reading] | None:
    """The same with words that nobody wrote replaced by the nearest of a title, tag or name."""
    asks = tuple(_corrected(ask, lexicon) for ask in question.asks)
    if asks == question.asks:
        return None
    better = Question(asks)
    return better, strictly(better)


def loosely(question: Question, lexicon: Lexicon) -> Reading | None:
    """Any of the words, of many the rarest, which say most; what was quoted or put into a field must still be there."""
    free = [ask for ask in question.wanted if ask.is_free]
    if len(free) < 2:
        return None
    free = sorted(free, key=lambda ask: lexicon.documents(ask.words[0].text))[:_MOST_LOOSE]
    rest = [ask for ask in question.wanted if not ask.is_free]
    return _all(question.wanted, [query.Or([_query(ask) for ask in free]), *map(_query, rest)])


def without(question: Question) -> Any:
    """What must not be there; None if nothing was said of that."""
    return query.Or([_query(ask) for ask in question.unwanted]) if question.unwanted else None


def as_text(question: Question) -> str:
    """The words of a question with nothing special in it."""
    return " ".join(word.text for ask in question.wanted for word in ask.words)


def _corrected(ask: Ask, lexicon: Lexicon) -> Ask:
    if not ask.is_free or ask.minus or lexicon.has(ask.words[0].text):
        return ask
    nearest = lexicon.nearest(ask.words[0].text)
    return Ask((ask.words[0]._replace(text=nearest, also=()),)) if nearest else ask


def _all(asks: Iterable[Ask], queries: Sequence[Any]) -> Reading:
    marks = frozenset(term for ask in asks for word in ask.words for term in _ways(word, ask.field))
    return Reading(queries[0] if len(queries) == 1 else query.And(list(queries)), marks)


def _ways(word: Word, name: str | None) -> list[str]:
    """The word, and what else may be written for it; a pair's single characters would be far too much."""
    joined = [other for other in word.also if len(other) > len(word.text)]
    return list(dict.fromkeys([word.text, *joined, *([] if name else [stem(word.text)])]))


def _query(ask: Ask) -> Any:
    name = ask.field or ALL
    if len(ask.words) == 1:
        first, *others = _ways(ask.words[0], ask.field)
        exact = query.Term(name, first)
        return query.Or([exact, *(query.Term(name, other, boost=_LESS) for other in others)]) if others else exact
    phrase = query.Phrase(name, [word.text for word in ask.words])
    whole = _whole(ask.words)
    return query.Or([phrase, query.Term(name, whole)]) if whole else phrase


def _whole(found: Sequence[Word]) -> str | None:
    """The one word that all of these may be written as."""
    joined = set.intersection(*(set(word.also) for word in found))
    return next((other for other in joined if other == "".join(word.text for word in found)), None)
