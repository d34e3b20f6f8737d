"""Which segments of the index a commit rewrites as one."""

from collections.abc import Sequence
from typing import Any

from whoosh.reading import SegmentReader

_RATIO = 3
_LARGE = 50_000
_DELETED = 1 / 3


def merged(writer: Any, segments: Sequence[Any]) -> list[Any]:
    """Whoosh's form of a merge policy: adds to the writer what is to be merged, returns what stays as it is.

    A segment not much larger than all smaller ones together joins them, so there are about log(documents) segments and
    each document is rewritten about as often. Large ones stay, unless much of what they hold was deleted.
    """
    stays: list[Any] = []
    joined = int(writer.doc_count())
    for segment in sorted(segments, key=lambda one: int(one.doc_count())):
        documents = int(segment.doc_count())
        if not documents:
            continue
        if _is_wasteful(segment) or documents < min(_RATIO * joined, _LARGE):
            _join(writer, segment)
            joined += documents
        else:
            stays.append(segment)
    return stays


def _is_wasteful(segment: Any) -> bool:
    return bool(segment.deleted_count() > _DELETED * segment.doc_count_all())


def _join(writer: Any, segment: Any) -> None:
    reader = SegmentReader(writer.storage, writer.schema, segment)
    writer.add_reader(reader)
    reader.close()
