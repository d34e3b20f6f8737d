"""Finding videos in a local replica of the index."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from whoosh import query

from shared.blobs import Blobs
from shared.clock import Clock
from shared.search import NOTHING, Hit, Results, marking, questions
from shared.search.damage import DAMAGE
from shared.search.lexicon import Lexicon
from shared.search.opened import OpenVersion, read
from shared.search.questions import Question, Reading
from shared.search.replica import Replica
from shared.search.schema import TITLE, kin
from shared.search.words import words

_DEEPEST = 10_000
"""Hits that can be paged through; nobody looks further, and each page costs all before it."""
_COUNTED = 2_000
"""Where at least this many may match, the total is estimated."""
_MOST_KIN = 40

T = TypeVar("T")


class Finder:
    """Safe to share between threads, and across a fork. An index that is not there (yet) finds nothing."""

    def __init__(self, blobs: Blobs, clock: Clock, folder: Path) -> None:
        self._replica = Replica(blobs, clock, folder)

    def refresh(self) -> None:
        """Look for a newer version now. Raises the store's named failures; the version at hand stays in use."""
        self._replica.refresh()

    def search(self, text: str, *, viewer: str | None = None, page: int = 1, limit: int = 24) -> Results:
        """Public videos, and the viewer's own, that have everything `text` asks for, the best first.

        Where nothing has, the last word is taken as the beginning of one; then words nobody wrote are taken for the
        nearest in a title, tag or name (`Results.corrected` says so); then any of the words will do.
        """
        question = questions.parse(text)
        if not question.wanted:
            return NOTHING
        return self._ask(
            lambda version, searcher: _Search(version, searcher, question, viewer).page(page, limit), NOTHING
        )

    def newest(self, *, page: int = 1, limit: int = 24) -> Results:
        """Public videos, the last published first."""

        def listed(version: OpenVersion, searcher: Any) -> Results:
            numbers = version.newest[(page - 1) * limit : page * limit]
            return Results(total=len(version.newest), hits=_hits(searcher, ((number, 0.0) for number in numbers)))

        return self._ask(listed, NOTHING)

    def related(self, video_id: str, *, limit: int = 12) -> Results:
        """Public videos that share people, tags or words of the title."""

        def found(version: OpenVersion, searcher: Any) -> Results:
            number = searcher.document_number(video=video_id)
            if number is None:
                return NOTHING
            document = read(searcher, number)
            shared = [query.Term("kin", name, boost=near) for name, near in kin(document)[:_MOST_KIN]]
            title = {word.text for word in words(document.title)}
            wanted = query.Or([*shared, *(query.Term(TITLE, word, boost=0.5) for word in sorted(title))])
            best = searcher.search(wanted, limit=limit, mask=version.hidden_from(None, searcher) | {number})
            return Results(total=len(best.top_n), hits=_hits(searcher, _scored(best)))

        return self._ask(found, NOTHING)

    def common_tags(self, limit: int) -> list[str]:
        """The tags most often given to the newest public videos."""
        return self._ask(lambda version, _: version.common_tags[:limit], [])

    def _ask(self, answer: Callable[[OpenVersion, Any], T], nothing: T) -> T:
        """Once more, from files fetched afresh, if those at hand turn out damaged or gone."""
        for again in (True, False):
            version = self._replica.current()
            if version is None:
                return nothing
            try:
                with version.searcher() as searcher:
                    return answer(version, searcher)
            except DAMAGE:
                self._replica.discard(version)
                if not again:
                    raise
        raise AssertionError("the second try returns or raises")


class _Search:
    """One question to one version, read more and more generously until something is found."""

    def __init__(self, version: OpenVersion, searcher: Any, question: Question, viewer: str | None) -> None:
        self._searcher = searcher
        self._question = question
        self._lexicon = Lexicon(searcher.reader())
        self._masked = set(version.hidden_from(viewer, searcher))
        unwanted = questions.without(question)
        if unwanted is not None:
            self._masked.update(searcher.docs_for_query(unwanted))

    def page(self, page: int, limit: int) -> Results:
        for reading, corrected in self._readings():
            found = self._find(reading, page, limit, corrected)
            if found.total:
                return found
        return NOTHING

    def _readings(self) -> Iterable[tuple[Reading, str | None]]:
        yield questions.strictly(self._question), None
        if (begun := questions.begun(self._question, self._lexicon)) is not None:
            yield begun, None
        if (better := questions.corrected(self._question, self._lexicon)) is not None:
            yield better[1], questions.as_text(better[0])
        if (loose := questions.loosely(self._question, self._lexicon)) is not None:
            yield loose, None

    def _find(self, reading: Reading, page: int, limit: int, corrected: str | None) -> Results:
        wanted = min(page * limit, _DEEPEST)
        best = self._searcher.search(reading.query, limit=wanted, mask=self._masked)
        scored = _scored(best)
        total = len(scored) if len(scored) < wanted else self._count(reading.query)
        hits = _hits(self._searcher, scored[(page - 1) * limit : wanted], reading.marks)
        return Results(total=total, hits=hits, corrected=corrected)

    def _count(self, wanted: Any) -> int:
        """Exact where few can match; else as many as the rarest word asked for has, which is quick to know."""
        reader = self._searcher.reader()
        estimate = min(wanted.estimate_size(reader), reader.doc_count())
        if estimate > _COUNTED:
            return int(estimate)
        return sum(1 for number in self._searcher.docs_for_query(wanted) if number not in self._masked)


def _scored(best: Any) -> list[tuple[int, float]]:
    return [(number, float(score)) for score, number in best.top_n]


def _hits(
    searcher: Any, scored: Iterable[tuple[int, float]], marks: frozenset[str] = frozenset()
) -> list[Hit]:
    hits = []
    for number, score in scored:
        document = read(searcher, number)
        hits.append(
            Hit(
                video=document.video,
                score=score,
                title_html=marking.title(document, marks),
                snippet_html=marking.snippet(document, marks),
            )
        )
    return hits
