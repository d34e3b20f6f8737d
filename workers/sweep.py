"""The sweep: what stopped moving is sent on its way again, what nobody refers to is removed; safe to run twice at once."""

import math
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

import structlog

from shared.errors import Conflict, MatineeError, NotFound, Stopped
from shared.services import Services
from shared.tables import Entity
from shared.tickets import Sweep
from workers.findings import Finding
from workers.orphans import orphans
from workers.resting import look_at_upload
from workers.scratch import remove_abandoned
from workers.stalled import SWEEPS, look_at_video

SLOTS = "slots"
WALKS = "walks"
_KEEP_SLOTS = timedelta(days=1)


def claim_slot(services: Services) -> None:
    """Of all processes that ask in one period the first sends its sweep ticket."""
    slot = _claim(services, SLOTS, services.settings.sweep_every)
    if slot is not None:
        services.tickets.send(Sweep(slot=slot, made=services.clock.now()))


def sweep(
    services: Services, *, check: Callable[[], None] = lambda: None, dry_run: bool = False
) -> list[Finding]:
    """Find and, unless it is a dry run, mend; returns what was found. `check` raises when it must stop.

    What cannot be mended now is logged and left to the next sweep.
    """
    found = []
    for finding in _findings(services, dry_run=dry_run):
        check()
        found.append(finding)
        if not dry_run:
            _mend(finding)
    if not dry_run:
        _forget_old_slots(services)
        services.blobs.collect_garbage()
        remove_abandoned(services.scratch)
    return found


def _findings(services: Services, *, dry_run: bool) -> Iterator[Finding]:
    for video_id, since in list(services.catalog.active_since()):
        yield from _look(services, video_id, since)
    # Every blob is looked at as often as one can become garbage, not at each sweep.
    every = max(services.settings.garbage_after, services.settings.sweep_every)
    if dry_run or services.settings.garbage_after == 0 or _claim(services, WALKS, every) is not None:
        yield from orphans(services)


def _look(services: Services, video_id: str, since: datetime) -> Iterator[Finding]:
    try:
        video = services.catalog.get(video_id)
    except NotFound:
        if services.clock.now() - since >= timedelta(seconds=services.settings.stalled_after):
            yield Finding(
                what="forget a video never entered",
                about=video_id,
                mend=lambda: services.catalog.mark_idle(video_id),
            )
        return
    yield from (look_at_upload if video.state == "uploading" else look_at_video)(services, video)


def _mend(finding: Finding) -> None:
    log = structlog.get_logger().bind(what=finding.what, about=finding.about)
    try:
        finding.mend()
    except Stopped:
        raise
    except MatineeError as error:
        log.warning("not mended", reason=str(error))
    else:
        log.info("mended")


def _claim(services: Services, partition: str, every: float) -> str | None:
    """The name of the present period, if this call is the first to ask in it."""
    services.tables.ensure_table(SWEEPS)
    now = services.clock.now()
    slot = str(math.floor(now.timestamp() / every))
    try:
        services.tables.insert(SWEEPS, partition, slot.rjust(20, "0"), {"at": now})
    except Conflict:
        return None
    return slot


def _forget_old_slots(services: Services) -> None:
    for partition in (SLOTS, WALKS):
        for row in services.tables.query(SWEEPS, partition).entities:
            if services.clock.now() - row.timestamp > _KEEP_SLOTS:
                _forget(services, row)


def _forget(services: Services, row: Entity) -> None:
    try:
        services.tables.delete(SWEEPS, row.partition, row.row)
    except NotFound:  # another sweep was here
        return
