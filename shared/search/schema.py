"""What the index keeps of a document, and how much a word weighs by where it stands.

Every word is in the field TEXT, weighed as BM25F has it: what a word's occurrences weigh is added up over the parts of
the document, then saturates (K1). One list of documents a word serves all parts, so a question asks one field. Parts
that are asked for by name (`actor:keanu`) have fields of their own besides.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from whoosh import scoring
from whoosh.analysis import IDAnalyzer
from whoosh.fields import ID, NUMERIC, STORED, TEXT, Schema

from shared.search import Document
from shared.search.words import Word, stem, words

FORM = 1
"""Grows with every change of what is indexed or how; an index of another form is made anew from the catalog."""

ALL = "text"
TITLE, TAG, ACTOR, DIRECTOR, CHANNEL, DESCRIPTION = "title", "tag", "actor", "director", "channel", "description"
NAMED = (TITLE, TAG, ACTOR, DIRECTOR, CHANNEL)
"""Parts with a field of their own."""
KIN = "kin"
"""Whole names and tags, which make videos related; the words of a name would not ("John" is in too many)."""


class Part(NamedTuple):
    """What one occurrence in the part weighs, and how many words the part usually has."""

    weight: float
    usual: int


PARTS = {
    TITLE: Part(5.0, 6),  # says most of what a video is
    TAG: Part(3.0, 8),  # named on purpose, as are people
    ACTOR: Part(3.0, 6),
    DIRECTOR: Part(3.0, 2),
    CHANNEL: Part(2.0, 1),
    DESCRIPTION: Part(1.0, 60),  # digresses
}
K1 = 3.0
"""With it a word in the title is worth 2.5 of one in a usual description, which repeated for ever reaches 1.6."""
_B = 0.5
"""How much of its weight a word loses in a part longer than usual; of each part's length, as BM25F has it."""
_REPEATED = 0.5
"""Each further occurrence in one part weighs half of the one before, so that repeating a word gains little."""
_OTHERWISE = 0.5
"""An inflection, or a compound written as one, weighs half of the word itself."""
_GAP = 10
"""Places left between values, so that no phrase runs from one name into the next."""

Postings = dict[str, tuple[float, list[int]]]
"""Each term with its weight and its places."""


class _Ready(TEXT):  # type: ignore[misc,unused-ignore]
    """A field whose value is its postings, made here."""

    def __init__(self) -> None:
        super().__init__(analyzer=IDAnalyzer())
        self.scorable = False  # the weights have the lengths in them

    def index(self, value: Postings, **_: Any) -> Iterable[tuple[bytes, int, float, bytes]]:
        for term, (weight, places) in value.items():
            yield term.encode(), len(places), weight, self.format.encode(places)


class Bm25f(scoring.WeightingModel):  # type: ignore[misc,unused-ignore]
    """The saturation of BM25F over weights that were added up, and evened out by length, when they were indexed."""

    def scorer(self, searcher: Any, fieldname: str, text: bytes, qf: int = 1) -> Any:  # noqa: ARG002 - Whoosh's form
        terms = searcher.term_info(fieldname, text)
        return _Saturated(searcher.get_parent().idf(fieldname, text), terms.max_weight())


class _Saturated(scoring.BaseScorer):  # type: ignore[misc,unused-ignore]
    def __init__(self, idf: float, most: float) -> None:
        self._full = idf * (K1 + 1)
        self._most = self._worth(most)

    def _worth(self, weight: float) -> float:
        return self._full * weight / (weight + K1)

    def supports_block_quality(self) -> bool:
        return True

    def score(self, matcher: Any) -> float:
        return self._worth(matcher.weight())

    def max_quality(self) -> float:
        return self._most

    def block_quality(self, matcher: Any) -> float:
        return self._worth(matcher.block_max_weight())


def schema() -> Any:
    return Schema(
        video=ID(unique=True, stored=True),
        owner=ID,
        privacy=ID,
        published=NUMERIC(int, bits=64, sortable=True),
        document=STORED,
        **{field: _Ready() for field in (ALL, KIN, *NAMED)},
    )


def fields(document: Document) -> dict[str, Any]:
    """The document as the schema takes it."""
    parts = {name: [words(text) for text in texts] for name, texts in passages(document).items()}
    return {
        "video": document.video,
        "owner": document.owner,
        "privacy": document.privacy,
        "published": int(document.published.timestamp() * 1_000_000),
        "document": msgspec.json.encode(document).decode(),
        ALL: _postings(parts, inflected=_may_be_english(document.language)),
        KIN: {name: (1.0, [0]) for name, _ in kin(document)},
        **{name: _postings({name: parts[name]}) for name in NAMED},
    }


def passages(document: Document) -> dict[str, tuple[str, ...]]:
    return {
        TITLE: (document.title,),
        TAG: document.tags,
        ACTOR: document.actors,
        DIRECTOR: document.directors,
        CHANNEL: (document.channel,),
        DESCRIPTION: (document.description,),
    }


def kin(document: Document) -> list[tuple[str, float]]:
    """What the document may share with others as a whole, and how near that makes them."""
    people = [*document.actors, *document.directors]
    return [(f"person {_whole(name)}", 2.0) for name in people] + [(f"tag {_whole(tag)}", 1.0) for tag in document.tags]


def _whole(name: str) -> str:
    return " ".join(word.text for word in words(name))


def _may_be_english(language: str | None) -> bool:
    return not language or language.lower().partition("-")[0] == "en"


def _postings(parts: Mapping[str, Sequence[Sequence[Word]]], *, inflected: bool = False) -> Postings:
    postings: Postings = {}
    place = 0
    for name, values in parts.items():
        one = _one_occurrence(PARTS[name], sum(map(len, values)))
        seen: Counter[str] = Counter()
        for value in values:
            for word in value:
                for term, share in _terms(word, inflected=inflected):
                    _add(postings, term, one * share * _REPEATED ** seen[term], place)
                    seen[term] += 1
                place += 1
            place += _GAP
    return postings


def _one_occurrence(part: Part, length: int) -> float:
    return part.weight / (1 - _B + _B * length / part.usual)


def _terms(word: Word, *, inflected: bool) -> Iterable[tuple[str, float]]:
    yield word.text, 1.0
    for other in word.also:
        yield other, _OTHERWISE
    if inflected and stem(word.text) != word.text:
        yield stem(word.text), _OTHERWISE


def _add(postings: Postings, term: str, weight: float, place: int) -> None:
    before, places = postings.get(term, (0.0, []))
    if not places or places[-1] != place:
        places.append(place)
    postings[term] = (before + weight, places)


