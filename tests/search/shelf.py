"""Short ways to put videos into an index and ask for them; a test spells out only what it is about."""

from datetime import UTC, datetime, timedelta
from typing import Any

from shared.search import Document, Results
from shared.search.finder import Finder
from shared.search.writer import IndexWriter

START = datetime(2030, 1, 1, tzinfo=UTC)


def a_document(video: str = "one", **fields: Any) -> Document:
    usual: dict[str, Any] = {
        "revision": 1, "title": "Untitled", "channel": "anna", "owner": "anna-id", "published": START,
    }  # fmt: skip
    return Document(video=video, **{**usual, **fields})


def several(number: int, **fields: Any) -> list[Document]:
    """v0, v1, ... each published a minute after the one before."""
    return [
        a_document(f"v{one}", **{"title": f"Film number {one}", "published": START + timedelta(minutes=one), **fields})
        for one in range(number)
    ]


class Shelf:
    """The writer's side and the finder's side together."""

    def __init__(self, writer: IndexWriter, finder: Finder) -> None:
        self.writer = writer
        self.finder = finder

    def put(self, *documents: Document) -> None:
        self.writer.apply(documents, [])
        self.finder.refresh()

    def remove(self, *videos: str) -> None:
        self.writer.apply([], videos)
        self.finder.refresh()

    def ask(self, text: str, **how: Any) -> Results:
        return self.finder.search(text, **how)

    def found(self, text: str, **how: Any) -> list[str]:
        """Videos, the best first."""
        return [hit.video for hit in self.ask(text, **how).hits]
