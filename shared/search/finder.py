"""Finding videos in a local replica, which follows the published index and switches to a new version at once."""

import os
import re
import secrets
import shutil
import threading
import time
from collections import Counter
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import Any

import msgspec
from whoosh import highlight, index, query
from whoosh.scoring import BM25F

from shared.blobs import Blobs
from shared.clock import Clock
from shared.errors import MatineeError
from shared.search import NOTHING, Document, Hit, Results
from shared.search.publication import Publication, Version
from shared.search.questions import as_query, words_of
from shared.search.schema import analyzer

_LOOK_EVERY = 1.0
_OLD_FOLDERS = 600.0
_SNIPPET = 200


class Finder:
    """Safe to share between threads. An index that is not there (yet) finds nothing."""

    def __init__(self, blobs: Blobs, clock: Clock, folder: Path) -> None:
        self._publication = Publication(blobs, clock)
        self._clock = clock
        self._root = folder
        self._lock = threading.Lock()
        self._looked: float | None = None
        self._etag: str | None = None
        self._folder: Path | None = None
        self._index: Any = None

    def search(self, text: str, *, viewer: str | None = None, page: int = 1, limit: int = 24) -> Results:
        """Public videos, and the viewer's own, that have every word of `text`; with none such, any of its words."""
        for loosely in (False, True):
            wanted = as_query(text, loosely=loosely)
            if wanted is None:
                return NOTHING
            found = self._find(wanted, _visible(viewer), page, limit, text=text)
            if found.total:
                return found
        return NOTHING

    def newest(self, *, page: int = 1, limit: int = 24) -> Results:
        return self._find(query.Every(), _visible(None), page, limit, sortedby="published", reverse=True)

    def related(self, video_id: str, *, limit: int = 12) -> Results:
        """Public videos that share people, tags or words of the title."""
        document = self._document(video_id)
        if document is None:
            return NOTHING
        terms = [
            query.Term(field, word, boost=boost)
            for field, texts, boost in (
                ("director", document.directors, 3.0),
                ("actor", document.actors, 3.0),
                ("tag", document.tags, 2.0),
                ("title", (document.title,), 1.0),
                ("channel", (document.channel,), 0.5),
            )
            for text in texts
            for word in words_of(text)
        ]
        wanted = query.AndNot(query.Or(terms), query.Term("video", video_id))
        return self._find(wanted, _visible(None), 1, limit)

    def common_tags(self, limit: int) -> list[str]:
        """The tags most often given to the newest public videos."""
        counts: Counter[str] = Counter()
        shown: dict[str, str] = {}
        searcher = self._searcher()
        if searcher is None:
            return []
        with searcher:
            for hit in searcher.search(
                query.Every(), filter=_visible(None), limit=200, sortedby="published", reverse=True
            ):
                for tag in _read(hit).tags:
                    counts[shown.setdefault(tag.casefold(), tag)] += 1
        return [tag for tag, _ in counts.most_common(limit)]

    def refresh(self) -> None:
        """Look for a newer version now. Raises the store's named failures; the version at hand stays in use."""
        with self._lock:
            self._looked = time.monotonic()
            etag = self._publication.newest_etag()
            if etag is not None and etag != self._etag:
                version, etag = self._publication.newest()
                self._switch(version)
                self._etag = etag

    def _searcher(self) -> Any:
        if self._looked is None or time.monotonic() - self._looked > _LOOK_EVERY:
            with suppress(MatineeError):
                self.refresh()
        return None if self._index is None else self._index.searcher(weighting=BM25F())

    def _switch(self, version: Version) -> None:
        folder = self._root / version.name
        if not folder.is_dir():
            building = self._root / f".{version.name}-{secrets.token_hex(4)}"
            self._publication.fetch(version, building, known=self._folder)
            with suppress(OSError):  # another process was first
                building.rename(folder)
            shutil.rmtree(building, ignore_errors=True)
        os.utime(folder)
        self._index, self._folder = index.open_dir(folder), folder
        self._remove_old(folder)

    def _remove_old(self, current: Path) -> None:
        for folder in self._root.iterdir():
            with suppress(OSError):
                if folder != current and folder.stat().st_mtime < time.time() - _OLD_FOLDERS:
                    shutil.rmtree(folder, ignore_errors=True)

    def _document(self, video_id: str) -> Document | None:
        searcher = self._searcher()
        if searcher is None:
            return None
        with searcher:
            found = searcher.document(video=video_id)
        return None if found is None else msgspec.json.decode(found["document"], type=Document)

    def _find(
        self, wanted: Any, visible: Any, page: int, limit: int, *, text: str = "", **order: Any
    ) -> Results:
        searcher = self._searcher()
        if searcher is None:
            return NOTHING
        with searcher:
            found = searcher.search(wanted, filter=visible, limit=page * limit, **order)
            rows = list(found)[(page - 1) * limit : page * limit]
            total = len(found) if found.has_exact_length() else found.estimated_length()
            return Results(total=max(total, len(found.top_n)), hits=[_hit(row, text) for row in rows])


def _visible(viewer: str | None) -> Any:
    public = query.Term("privacy", "public")
    return public if viewer is None else query.Or([public, query.Term("owner", viewer)])


def _read(row: Any) -> Document:
    return msgspec.json.decode(row["document"], type=Document)


def _hit(row: Any, text: str) -> Hit:
    document = _read(row)
    words = frozenset(words_of(text))
    return Hit(
        video=document.video,
        score=float(row.score or 0.0),
        title_html=_marked(document.title, words, highlight.WholeFragmenter()) or escape(document.title),
        snippet_html=_snippet(document, words),
    )


def _snippet(document: Document, words: frozenset[str]) -> str:
    people = " · ".join((*document.actors, *document.directors, *document.tags))
    for source in (document.description, people):
        marked = _marked(source, words, highlight.ContextFragmenter(maxchars=_SNIPPET, surround=60))
        if marked:
            return marked
    return escape(document.description[:_SNIPPET])


def _marked(text: str, words: frozenset[str], fragmenter: Any) -> str:
    """The text with its matching words in <mark>, escaped; empty without a match."""
    if not words or not text:
        return ""
    formatter = highlight.HtmlFormatter(tagname="mark", classname="", termclass="")
    marked = highlight.highlight(text, words, analyzer(), fragmenter, formatter, top=2, minscore=1)
    return _CLASSES.sub("<mark>", marked) if "<mark" in marked else ""


_CLASSES = re.compile(r"<mark class=\"[^\"]*\">")
