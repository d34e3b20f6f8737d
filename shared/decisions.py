"""What its owner or an operator decides of a video: that it goes, or that what was given up is tried again.

Marked active first, changed by compare-and-swap, tickets last: whatever dies in between, the sweep finds and finishes.
"""

import msgspec

from shared.errors import Conflict
from shared.reopening import reopen
from shared.services import Services
from shared.tickets import Erase, Index, Ingest
from shared.videos import SOURCES, Video


def delete(services: Services, video_id: str, *, traceparent: str | None = None) -> Video:
    """Gone for everybody at once; its files and its place in the index follow. Saying it again does no harm.

    Raises NotFound.
    """
    services.catalog.get(video_id)
    services.catalog.mark_active(video_id)
    video = services.catalog.change(video_id, _deleted, event="deleted", traceparent=traceparent)
    services.blobs.discard_uncommitted(SOURCES, video.source)
    made = services.clock.now()
    services.tickets.send_all([
        Erase(video=video.id, generation=video.generation, made=made, traceparent=traceparent),
        Index(video=video.id, generation=video.generation, made=made, traceparent=traceparent),
    ])
    return video


def retry(services: Services, video_id: str, *, traceparent: str | None = None) -> Video:
    """Let work that was given up go on; what is finished stays.

    Raises NotFound, or Conflict where nothing was given up.
    """
    services.catalog.get(video_id)
    if not reopen(services.catalog, video_id):
        raise Conflict("there is nothing to try again: no work on this video was given up")
    video = services.catalog.get(video_id)
    # Whatever is missing now, ingest sends for.
    made = services.clock.now()
    services.tickets.send(Ingest(video=video.id, generation=video.generation, made=made, traceparent=traceparent))
    return video


def _deleted(video: Video) -> Video | None:
    if video.state == "deleted":
        return None
    return msgspec.structs.replace(video, state="deleted", revision=video.revision + 1)
