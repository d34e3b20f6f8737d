"""Uploads at rest: one whose last step was cut short is finished, one nobody adds to any more is given up."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial

from shared.blobs import Blob
from shared.errors import NotFound
from shared.services import Services
from shared.uploads import expires, finish_commit, give_up
from shared.videos import SOURCES, Video
from workers.findings import Finding

_GIVEN_UP = "The upload was not finished in time."


def look_at_upload(services: Services, video: Video) -> Iterator[Finding]:
    blob = _source(services, video)
    now = services.clock.now()
    if blob is not None:
        if now - blob.last_modified >= timedelta(seconds=services.settings.stalled_after):
            yield Finding(what="finish the commit", about=video.id, mend=partial(_finish, services, video, blob))
    elif now >= expires(services, video, _last_block(services, video)):
        yield Finding(what="give up the upload", about=video.id, mend=partial(_give_up, services, video))


def _finish(services: Services, video: Video, blob: Blob) -> None:
    finish_commit(services, video.id, blob.metadata.get("blocks", ""))


def _give_up(services: Services, video: Video) -> None:
    give_up(services, video.id, _GIVEN_UP)


def _source(services: Services, video: Video) -> Blob | None:
    try:
        return services.blobs.stat(SOURCES, video.source)
    except NotFound:
        return None


def _last_block(services: Services, video: Video) -> datetime | None:
    found = services.blobs.list_uncommitted(SOURCES, prefix=video.source)
    return next((last for name, last in found if name == video.source), None)
