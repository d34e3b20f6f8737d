"""Videos that stopped moving: their next step is sent again, whatever became of the ticket that was to do it."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from shared.errors import Conflict, NotFound
from shared.services import Services
from shared.tables import Entity
from shared.videos import TERMINAL, Video
from workers.findings import Finding
from workers.steps import find_plan, next_tickets, rest_if_done

SWEEPS = "sweeps"
RESENT = "resent"
_LONGEST_WAIT = timedelta(hours=1)


def look_at_video(services: Services, video: Video) -> Iterator[Finding]:
    """Each time the same stall goes on the wait doubles, so that a long line of waiting tickets is not doubled instead."""
    if video.state in TERMINAL - {"deleted"} and video.indexed >= video.revision:
        yield Finding(what="nothing is owed", about=video.id, mend=lambda: _rest(services, video))
        return
    moved = services.catalog.last_moved(video.id)
    before = _resent(services, video, moved)
    wait = timedelta(seconds=services.settings.stalled_after)
    if before is not None:
        moved = before.timestamp
        wait = min(wait * 2 ** int(before.properties["times"]), max(wait, _LONGEST_WAIT))
    if services.clock.now() - moved >= wait:
        yield Finding(what="send the next step again", about=video.id, mend=lambda: _resend(services, video))


def _rest(services: Services, video: Video) -> None:
    rest_if_done(services, video.id)


def _resend(services: Services, video: Video) -> None:
    """Of two sweeps that find the same stall, the one that notes it sends."""
    moved = services.catalog.last_moved(video.id)
    before = _resent(services, video, moved)
    try:
        _note(services, video, moved, before)
    except Conflict:
        return
    tickets = next_tickets(
        video, find_plan(services, video), services.catalog.parts(video.id, video.generation), made=services.clock.now()
    )
    services.tickets.send_all(tickets)


def _note(services: Services, video: Video, moved: datetime, before: Entity | None) -> None:
    times = 1 if before is None else int(before.properties["times"]) + 1
    note = {"moved": moved, "times": times}
    if before is not None:
        services.tables.update(SWEEPS, RESENT, video.id, note, if_match=before.etag)
        return
    try:
        old = services.tables.get(SWEEPS, RESENT, video.id)
    except NotFound:
        services.tables.insert(SWEEPS, RESENT, video.id, note)
    else:
        services.tables.update(SWEEPS, RESENT, video.id, note, if_match=old.etag)


def _resent(services: Services, video: Video, moved: datetime) -> Entity | None:
    """The note of an earlier resend, if the video has not moved since."""
    try:
        note = services.tables.get(SWEEPS, RESENT, video.id)
    except NotFound:
        return None
    return note if note.properties["moved"] == moved else None
