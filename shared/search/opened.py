"""One version of the index, opened on this machine, and what every question to it needs."""

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
from whoosh import index, query

from shared.search import Document
from shared.search.schema import Bm25f, schema

_TAGS_OF = 200


class OpenVersion:
    """Safe to share between threads: each question has a searcher to itself, and leaves it to the next."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._index = index.open_dir(folder, readonly=True, schema=schema())
        self._idle: list[Any] = []
        self._retired = False

    @contextmanager
    def searcher(self) -> Iterator[Any]:
        """A searcher that failed may be in any state, and is not used again."""
        try:
            searcher = self._idle.pop()
        except IndexError:
            searcher = self._index.searcher(weighting=Bm25f())
        try:
            yield searcher
        except BaseException:
            searcher.close()
            raise
        self._idle.append(searcher)
        if self._retired:
            self._close_idle()

    def touch(self, now: datetime) -> bool:
        """Say that it is in use; False if its folder is gone."""
        try:
            os.utime(self._folder, (now.timestamp(), now.timestamp()))
        except FileNotFoundError:
            return False
        return True

    def retire(self) -> None:
        """Questions being answered are answered to the end: what they read is open."""
        self._retired = True
        self._close_idle()
        shutil.rmtree(self._folder, ignore_errors=True)

    def hidden_from(self, viewer: str | None, searcher: Any) -> set[int]:
        """The documents this person may not find: what is not public, but for their own."""
        hidden = self._not_public
        if viewer is None or not hidden:
            return hidden
        return hidden.difference(searcher.docs_for_query(query.Term("owner", viewer)))

    @cached_property
    def newest(self) -> list[int]:
        """Public documents, the newest first."""
        with self.searcher() as searcher:
            reader = searcher.reader()
            if not reader.doc_count():
                return []
            published, hidden = reader.column_reader("published"), self._not_public
            public = (document for document in reader.all_doc_ids() if document not in hidden)
            return sorted(public, key=published.__getitem__, reverse=True)

    @cached_property
    def common_tags(self) -> list[str]:
        """The tags of the newest public documents, the most often given first, each as it was first written."""
        counts: Counter[str] = Counter()
        shown: dict[str, str] = {}
        with self.searcher() as searcher:
            for number in self.newest[:_TAGS_OF]:
                for tag in read(searcher, number).tags:
                    counts[shown.setdefault(tag.casefold(), tag)] += 1
        return [tag for tag, _ in counts.most_common()]

    @cached_property
    def _not_public(self) -> set[int]:
        unseen = query.Or([query.Term("privacy", "private"), query.Term("privacy", "unlisted")])
        with self.searcher() as searcher:
            return set(searcher.docs_for_query(unseen))

    def _close_idle(self) -> None:
        while self._idle:
            try:
                self._idle.pop().close()
            except IndexError:  # another thread took the last
                return


def read(searcher: Any, number: int) -> Document:
    return msgspec.json.decode(searcher.stored_fields(number)["document"], type=Document)
