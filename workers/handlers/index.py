"""Make the search index say what the catalog says now; up to 32 tickets are one commit."""

from collections.abc import Sequence

import msgspec

from shared.errors import NotFound
from shared.search import Document
from shared.services import Services
from shared.tickets import Index
from shared.videos import PLAYS, Video
from workers.attempt import Attempt
from workers.steps import rest_if_done


def handle_batch(tickets: Sequence[Index], services: Services, attempt: Attempt) -> None:
    """Before: index. At (the index has this revision): only mark what is done. The catalog is read afresh, so a late
    ticket never brings old text back.
    """
    found = [_find(services, video_id) for video_id in dict.fromkeys(ticket.video for ticket in tickets)]
    videos = [video for video in found if video is not None]
    owed = [video for video in videos if video.indexed < video.revision]
    if owed:
        services.index_writer.apply(
            [_document(video) for video in owed if video.state in PLAYS],
            [video.id for video in owed if video.state not in PLAYS],
        )
    attempt.check()
    for video in videos:
        services.catalog.change(video.id, lambda now, known=video.revision: _indexed(now, known))  # type: ignore[misc]
        rest_if_done(services, video.id)


def _find(services: Services, video_id: str) -> Video | None:
    try:
        return services.catalog.get(video_id)
    except NotFound:
        return None


def _indexed(now: Video, revision: int) -> Video | None:
    return msgspec.structs.replace(now, indexed=revision) if now.indexed < revision else None


def _document(video: Video) -> Document:
    return Document(
        video=video.id,
        revision=video.revision,
        title=video.title,
        description=video.description,
        tags=video.tags,
        actors=video.actors,
        directors=video.directors,
        channel=video.channel,
        owner=video.owner,
        language=video.language,
        privacy=video.privacy,
        published=video.published or video.created,
    )
