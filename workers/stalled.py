"""Videos that stopped moving: their next step is sent again, whatever became of the ticket that was to do it."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial

from shared.errors import Conflict, NotFound
from shared.services import Services
from shared.tables import Entity, Value
from shared.videos import TERMINAL, Video
from workers.findings import Finding
from workers.steps import rest_if_done, send_next

SWEEPS = "sweeps"
RESENT = "resent"
_LONGEST_WAIT = timedelta(hours=1)


def look_at_video(services: Services, video: Video) -> Iterator[Finding]:
    """Each time the same stall goes on the wait doubles, so that a long line of waiting tickets does not."""
    known = video.state in TERMINAL - {"deleted"} and video.indexed >= video.revision
    if known and not services.untold.has_any(video.id):
        yield Finding(what="nothing is owed", about=video.id, mend=partial(_rest, services, video))
        return
    note = _find_note(services, video)
    moved = services.catalog.last_moved(video.id)
    times = _times(note, moved)
    since = note.timestamp if note is not None and times else moved
    if services.clock.now() - since >= _wait(services, times):
        mend = partial(_resend, services, video, note, moved)
        yield Finding(what="send the next step again", about=video.id, mend=mend)


def _wait(services: Services, times: int) -> timedelta:
    first = timedelta(seconds=services.settings.stalled_after)
    return min(first * (1 << min(times, 20)), max(first, _LONGEST_WAIT))


def _rest(services: Services, video: Video) -> None:
    rest_if_done(services, video.id)


def _resend(services: Services, video: Video, note: Entity | None, moved: datetime) -> None:
    """Of two sweeps that find the same stall, the one that notes it first sends."""
    try:
        _write_note(services, video, note, moved)
    except Conflict:
        return
    send_next(services, video.id)


def _write_note(services: Services, video: Video, note: Entity | None, moved: datetime) -> None:
    properties: dict[str, Value] = {"moved": moved, "times": _times(note, moved) + 1}
    if note is None:
        services.tables.insert(SWEEPS, RESENT, video.id, properties)
    else:
        services.tables.update(SWEEPS, RESENT, video.id, properties, if_match=note.etag)


def _find_note(services: Services, video: Video) -> Entity | None:
    try:
        return services.tables.get(SWEEPS, RESENT, video.id)
    except NotFound:
        return None


def _times(note: Entity | None, moved: datetime) -> int:
    """How often this very stall was answered already."""
    return int(str(note.properties["times"])) if note is not None and note.properties["moved"] == moved else 0
