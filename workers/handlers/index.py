"""Make the search index say what the catalog says now; up to 32 tickets are one commit."""

from collections.abc import Sequence

import msgspec

from shared.search.entries import belongs, document_of, entries
from shared.search.turn import Turn
from shared.services import Services
from shared.tickets import Index
from shared.videos import Video
from workers.attempt import Attempt
from workers.steps import rest_if_done

DEADLINE = 3600.0
"""Seconds; an index that was lost is made anew from the whole catalog."""


def handle_batch(tickets: Sequence[Index], services: Services, attempt: Attempt) -> None:
    """Before: index. At (the index has this revision): only mark what is done.

    The catalog is read within the turn, so a late ticket, or a worker frozen here, never brings old text back.
    """
    asked = list(dict.fromkeys(ticket.video for ticket in tickets))
    videos = _find(services, asked)
    if any(_is_owed(videos.get(video_id)) for video_id in asked):
        with services.index_writer.turn() as turn:
            videos = _find(services, asked)
            attempt.check()
            _write(turn, services, asked, videos)
    for video in videos.values():
        _mark(services, video)


def _write(turn: Turn, services: Services, asked: Sequence[str], videos: dict[str, Video]) -> None:
    if turn.lost:
        turn.replace(entries(services.catalog))
        return
    owed = [video_id for video_id in asked if _is_owed(videos.get(video_id))]
    shown = [video for video_id in owed if (video := videos.get(video_id)) and belongs(video)]
    turn.apply([document_of(video) for video in shown], sorted({*owed} - {video.id for video in shown}))


def _is_owed(video: Video | None) -> bool:
    """One nobody knows (any more) must not be found either."""
    return video is None or video.indexed < video.revision


def _find(services: Services, asked: Sequence[str]) -> dict[str, Video]:
    return {video_id: video for video_id in asked if (video := services.catalog.find(video_id))}


def _mark(services: Services, video: Video) -> None:
    services.catalog.change(video.id, lambda now: _indexed(now, video.revision))
    rest_if_done(services, video.id)


def _indexed(now: Video, revision: int) -> Video | None:
    return msgspec.structs.replace(now, indexed=revision) if now.indexed < revision else None
