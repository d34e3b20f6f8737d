"""What of a document is shown with a hit: escaped, with the words that matched in <mark>."""

from collections.abc import Iterator, Sequence
from html import escape

from shared.search import Document
from shared.search.words import Word, stem, words

_SNIPPET = 200
_BEFORE = 50
_ELLIPSIS = "…"

Marks = frozenset[str]


def title(document: Document, marks: Marks) -> str:
    return _marked(document.title, 0, len(document.title), _matching(document.title, marks))


def snippet(document: Document, marks: Marks) -> str:
    """The stretch of the description with the most of what was asked; else the names and tags, if those matched."""
    found = _matching(document.description, marks)
    if found:
        return _excerpt(document.description, found)
    names = " · ".join((*document.actors, *document.directors, *document.tags, document.channel))
    found = _matching(names, marks)
    return _excerpt(names, found) if found else _excerpt(document.description, [])


def _matching(text: str, marks: Marks) -> list[Word]:
    if not marks:
        return []
    return [
        word for word in words(text)
        if word.text in marks or stem(word.text) in marks or not marks.isdisjoint(word.also)
    ]  # fmt: skip


def _excerpt(text: str, found: Sequence[Word]) -> str:
    if len(text) <= _SNIPPET:
        return _marked(text, 0, len(text), found)
    start, end = _stretch(text, found)
    before = _ELLIPSIS if start else ""
    after = _ELLIPSIS if end < len(text) else ""
    return before + _marked(text, start, end, found) + after


def _stretch(text: str, found: Sequence[Word]) -> tuple[int, int]:
    """Where most different words match within a snippet's length, moved to the edges of words."""
    best, most = 0, 0
    for place, first in enumerate(found):
        reach = {word.text for word in found[place:] if word.end - first.start <= _SNIPPET - _BEFORE}
        if len(reach) > most:
            best, most = first.start, len(reach)
    start = _edge(text, max(0, best - _BEFORE), best)
    return start, _last_edge(text, start, min(len(text), start + _SNIPPET))


def _edge(text: str, start: int, before: int) -> int:
    """The first beginning of a word from `start` on, `before` at the latest."""
    if start == 0:
        return 0
    space = text.find(" ", start, before)
    return space + 1 if space >= 0 else before


def _last_edge(text: str, start: int, end: int) -> int:
    if end == len(text):
        return end
    space = text.rfind(" ", start + _BEFORE, end)
    return space if space >= 0 else end


def _marked(text: str, start: int, end: int, found: Sequence[Word]) -> str:
    pieces = []
    at = start
    for from_, to in _spans(found):
        if from_ >= start and to <= end:
            pieces += [escape(text[at:from_]), "<mark>", escape(text[from_:to]), "</mark>"]
            at = to
    pieces.append(escape(text[at:end]))
    return "".join(pieces)


def _spans(found: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """Where marks go; those of pairs that overlap are one."""
    span: tuple[int, int] | None = None
    for word in found:
        if span is not None and word.start < span[1]:
            span = (span[0], max(span[1], word.end))
            continue
        if span is not None:
            yield span
        span = (word.start, word.end)
    if span is not None:
        yield span
