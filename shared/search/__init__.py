"""Search as the rest of Matinee sees it: documents go in through one writer, hits come out of a local replica."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

SEARCH = "search"
"""Container of the published index."""


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """What is searchable of one video, as of its `revision`."""

    video: str
    revision: int
    title: str
    description: str = ""
    tags: tuple[str, ...] = ()
    actors: tuple[str, ...] = ()
    directors: tuple[str, ...] = ()
    channel: str
    owner: str
    language: str | None = None
    privacy: str = "public"
    published: datetime


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One video found. The `*_html` texts are escaped, with what matched in <mark>."""

    video: str
    score: float
    title_html: str
    snippet_html: str = ""


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """`total` counts all that matched (an estimate where there are very many); `hits` those of the page, best first.

    `corrected` is what was searched for instead, where nothing was found for what was asked.
    """

    total: int
    hits: Sequence[Hit]
    corrected: str | None = None


NOTHING = Results(total=0, hits=())
