"""The words of titles, tags and names in an index: how a word that was begun may go on, or was meant."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

from shared.search.schema import ALL, NAMED

_SHORTEST_BEGUN = 2
_MOST_COMPLETIONS = 24
_SHORTEST_MEANT = 4
_LONG = 8
_LOOKED_AT = 5000


class Lexicon:
    """Over one reader of the index. What it looks at is bounded, however large the index."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader

    def has(self, word: str) -> bool:
        return (ALL, word) in self._reader

    def documents(self, word: str) -> int:
        """How many have the word."""
        return int(self._reader.doc_frequency(ALL, word))

    def completions(self, begun: str) -> list[tuple[str, str]]:
        """(field, term) of words that go on from `begun`, those of the most documents."""
        if len(begun) < _SHORTEST_BEGUN:
            return []
        counts = Counter({
            (name, term): self._reader.doc_frequency(name, term)
            for name in NAMED
            for term in self._terms(name, begun)
        })
        return [found for found, _ in counts.most_common(_MOST_COMPLETIONS)]

    def nearest(self, word: str) -> str | None:
        """The word one slip away (two in a long one) that most documents have; its first letter is taken as right."""
        if len(word) < _SHORTEST_MEANT:
            return None
        slips = 2 if len(word) >= _LONG else 1
        best: tuple[int, int, str] | None = None
        for name in NAMED:
            for term in self._terms(name, word[0]):
                if abs(len(term) - len(word)) > slips:
                    continue
                apart = distance(word, term, slips)
                if apart <= slips:
                    rank = (-apart, self._reader.doc_frequency(name, term), term)
                    best = max(best, rank) if best else rank
        return best[2] if best else None

    def _terms(self, name: str, begun: str) -> Iterator[str]:
        terms = islice(self._reader.expand_prefix(name, begun), _LOOKED_AT)
        return (term.decode() for term in terms)


def distance(one: str, other: str, most: int) -> int:
    """Letters changed, left out, put in or swapped with the next (Damerau-Levenshtein); `most` + 1 where it is more."""
    before: list[int] = []
    above = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        line = [row]
        for column, facing in enumerate(other, 1):
            cost = min(above[column] + 1, line[-1] + 1, above[column - 1] + (letter != facing))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == facing:
                cost = min(cost, before[column - 2] + 1)
            line.append(cost)
        if min(line) > most:
            return most + 1
        before, above = above, line
    return above[-1]
