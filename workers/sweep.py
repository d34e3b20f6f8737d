"""The sweep: what stopped moving goes on its way again, what nobody refers to is removed; safe to run twice at once."""

import math
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial

import structlog

from shared.blobs import every_page
from shared.errors import Conflict, MatineeError, NotFound, Stopped
from shared.services import Services
from shared.tickets import QUEUES, Sweep
from shared.videos import MEDIA, SOURCES, Video
from shared.wake import Call, NoBus
from workers.findings import Finding
from workers.garbage import (
    look_at_blocks,
    look_at_keys,
    look_at_media,
    look_at_poison,
    look_at_sources,
    look_at_subscriptions,
    look_at_tokens,
)
from workers.resting import look_at_upload
from workers.scratch import remove_abandoned
from workers.stalled import SWEEPS, look_at_video

SLOTS = "slots"
WALKS = "walks"
_KEEP_SLOTS = timedelta(days=1)
_ENTERING = timedelta(minutes=1)
"""A video's place on the active list comes before its record; one this old without a record was left by a death."""

Check = Callable[[], None]
"""Raises Stopped when the sweep must end."""


def prepare(services: Services) -> None:
    """Make the sweeps' own table; before the first claim."""
    services.tables.ensure_table(SWEEPS)


def claim_slot(services: Services) -> None:
    """Of all processes that ask in one period the first sends its sweep ticket."""
    slot = _claim(services, SLOTS, services.settings.sweep_every)
    if slot is not None:
        services.tickets.send(Sweep(slot=slot, made=services.clock.now()))


def _claim(services: Services, of: str, period: float) -> str | None:
    """The current period's name if nobody has claimed it before us."""
    now = services.clock.now()
    slot = _slot(now, period)
    try:
        services.tables.insert(SWEEPS, of, slot, {"at": now})
    except Conflict:
        return None
    return slot


def _slot(moment: datetime, period: float) -> str:
    return str(math.floor(moment.timestamp() / period)).rjust(20, "0")


def sweep(services: Services, *, dry_run: bool = False, check: Check = lambda: None) -> list[Finding]:
    """Look, and unless it is a dry run put right, everything once; returns what was found.

    One thing that cannot be put right now is logged and left to the next sweep.
    """
    prepare(services)
    found = []
    for finding in _look(services, dry_run=dry_run):
        check()
        found.append(finding)
        if not dry_run:
            _mend(finding)
    if not dry_run:
        _forget_old_slots(services)
        remove_abandoned(services.scratch)
        services.blobs.collect_garbage()
        _rouse(services)
    return found


def _rouse(services: Services) -> None:
    """Calls are hints and may be lost: who sleeps beside a queue that is not empty hears of it here at the latest."""
    if isinstance(services.bus, NoBus):
        return
    for queue in QUEUES:
        waiting = services.queues.depth(queue).messages
        if waiting:
            services.bus.call(Call(account=services.account, queue=queue, count=waiting))


def _look(services: Services, *, dry_run: bool) -> Iterator[Finding]:
    for video_id, since in list(services.catalog.active_since()):
        video = services.catalog.find(video_id)
        if video is not None:
            yield from _look_at(services, video)
        elif services.clock.now() - since >= _ENTERING:
            mend = partial(services.catalog.mark_idle, video_id)
            yield Finding(what="forget what was never entered", about=video_id, mend=mend)
    if dry_run or _walk_is_due(services):
        yield from _walk(services)


def _walk_is_due(services: Services) -> bool:
    """Every blob is looked at as often as one can turn into garbage, not at each sweep."""
    every = max(services.settings.garbage_after, services.settings.sweep_every)
    return services.settings.garbage_after == 0 or _claim(services, WALKS, every) is not None


def _walk(services: Services) -> Iterator[Finding]:
    for video_id in _videos_with_blobs(services, MEDIA):
        yield from look_at_media(services, video_id)
    for video_id in _videos_with_blobs(services, SOURCES):
        yield from look_at_sources(services, video_id)
    yield from look_at_blocks(services)
    yield from look_at_poison(services)
    yield from look_at_keys(services)
    yield from look_at_tokens(services)
    yield from look_at_subscriptions(services)


def _look_at(services: Services, video: Video) -> Iterator[Finding]:
    return look_at_upload(services, video) if video.state == "uploading" else look_at_video(services, video)


def _mend(finding: Finding) -> None:
    log = structlog.get_logger().bind(what=finding.what, about=finding.about)
    try:
        finding.mend()
    except Stopped:
        raise
    except MatineeError as error:
        log.warning("not put right", reason=str(error))
    else:
        log.info("put right")


def _videos_with_blobs(services: Services, container: str) -> Iterator[str]:
    for page in every_page(services.blobs, container, delimiter="/"):
        yield from (prefix.rstrip("/") for prefix in page.prefixes)


def _forget_old_slots(services: Services) -> None:
    """Whatever the period, a name this old is nobody's any more; the walks' own are few enough to stay."""
    old = _slot(services.clock.now() - _KEEP_SLOTS, services.settings.sweep_every)
    for slot in services.tables.query(SWEEPS, SLOTS, row_to=old, limit=500).entities:
        try:
            services.tables.delete(SWEEPS, SLOTS, slot.row)
        except NotFound:  # another sweep was here
            continue
