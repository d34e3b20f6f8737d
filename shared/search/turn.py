"""One turn at writing the index: from what is published, by one commit, to what is published next."""

import errno
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from whoosh import index, query

from shared.errors import Busy, Conflict, Full
from shared.search import Document
from shared.search.damage import DAMAGE
from shared.search.files import LocalFiles
from shared.search.merging import merged
from shared.search.publication import Damaged, Publication, Version
from shared.search.schema import fields, schema

_DISK_IS_FULL = (errno.ENOSPC, errno.EDQUOT)


class Turn:
    """Begins with a look at what is published; `apply` or `replace` ends it."""

    def __init__(self, publication: Publication, files: LocalFiles, folder: Path) -> None:
        self._publication = publication
        self._files = files
        self._folder = folder
        self._etag = publication.etag()
        self._before = self._usable()

    @property
    def lost(self) -> bool:
        """Whether nothing is published that could be added to: all must come from the catalog."""
        return self._before is None

    def apply(self, put: Sequence[Document], remove: Sequence[str]) -> None:
        """Documents come in place of what their videos had; where the index is lost, a new one begins with them."""
        with self._working():
            copy = self._empty() if self.lost else index.open_dir(self._folder, schema=schema())
            gone = [*remove, *(document.video for document in put)]
            self._publish(copy, put, [] if self.lost else gone)

    def replace(self, documents: Iterable[Document]) -> int:
        """An index of these alone; returns how many."""
        with self._working():
            return self._publish(self._empty(), documents, [])

    def _usable(self) -> Version | None:
        if self._etag is None:
            return None
        try:
            before = self._publication.read(self._etag)
            self._files.lend(before, self._folder)
        except Damaged:
            return None
        except Conflict:
            raise Busy("another writer is publishing the index just now") from None
        return before

    def _empty(self) -> Any:
        folder = self._folder / "anew"
        folder.mkdir(parents=True)
        return index.create_in(folder, schema())

    def _publish(self, copy: Any, put: Iterable[Document], gone: Sequence[str]) -> int:
        documents = _commit(copy, put, gone)
        folder = Path(copy.storage.folder)
        lent = self._before.files if self._before and folder == self._folder else {}
        files = {name: lent.get(name) or self._files.adopt(folder / name) for name in _names(folder)}
        version = self._publication.publish(
            folder, files, documents=documents, before=self._before, etag=self._etag
        )
        self._files.remove_others(version)
        return documents

    @contextmanager
    def _working(self) -> Iterator[None]:
        """The working copy failing is nobody's fault: it is made anew, from files checked again, in the next turn."""
        try:
            yield
        except DAMAGE as error:
            if getattr(error, "errno", None) in _DISK_IS_FULL:
                raise Full("no space is left to write the search index") from error
            self._files.distrust()
            raise Busy(f"the working copy of the search index failed: {error!r}") from error


def _commit(copy: Any, put: Iterable[Document], gone: Sequence[str]) -> int:
    writer = copy.writer()
    try:
        if gone:
            writer.delete_by_query(query.Or([query.Term("video", video) for video in gone]))
        for document in put:
            writer.add_document(**fields(document))
    except BaseException:
        writer.cancel()
        raise
    writer.commit(mergetype=merged)
    documents = int(copy.doc_count())
    copy.close()
    return documents


def _names(folder: Path) -> list[str]:
    """The index's own files, without its lock."""
    return sorted(path.name for path in folder.iterdir() if path.suffix in (".toc", ".seg"))
