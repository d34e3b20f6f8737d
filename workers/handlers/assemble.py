"""Publish what the finished parts allow: a master playlist, then one swap of the record that players follow."""

from collections.abc import Mapping

import msgspec

from shared.services import Services
from shared.tickets import Assemble
from shared.videos import MEDIA, Part, Plan, Playback, Video, first_ready, part_prefix, whole
from workers.attempt import Attempt
from workers.failures import fail
from workers.media.hls import master_playlist
from workers.parts import CONTENT_TYPES, FOR_EVER, remove_prefix
from workers.steps import ASSEMBLE, assembled, lost_part, past, send_next, succeeded

DEADLINE = 300.0
"""Seconds; it writes one small file."""


def handle(ticket: Assemble, services: Services, attempt: Attempt) -> None:
    video = services.catalog.find(ticket.video)
    if video is None:
        return
    plan = services.catalog.find_plan(video)
    parts = services.catalog.parts(video.id, video.generation)
    if plan is not None and not past(video, ticket.generation):
        given_up = lost_part(plan, parts) or _nothing_to_play(plan, parts)
        if given_up is not None:
            fail(services, ticket, given_up.failed or "")
            return
        if first_ready(plan, parts):
            _swap(ticket, video, plan, parts, services, attempt)
    if video.generation == ticket.generation:
        send_next(services, video.id, traceparent=ticket.traceparent, after=ASSEMBLE)


def _nothing_to_play(plan: Plan, parts: Mapping[str, Part]) -> Part | None:
    """All is finished, and yet a part the first picture needs was given up."""
    if not whole(plan, parts):
        return None
    return next((parts[name] for name in plan.first if parts[name].failed is not None), None)


def _swap(
    ticket: Assemble, video: Video, plan: Plan, parts: Mapping[str, Part], services: Services, attempt: Attempt
) -> None:
    """The blob first, then the record; whoever knew of fewer parts leaves the record and takes its blob away."""
    state = "published" if whole(plan, parts) else "playable"
    prefix = part_prefix(video.id, video.generation, ASSEMBLE, attempt.id)
    playback = _playback(video, parts, prefix + "master.m3u8")
    length = _length(parts)

    def swapped(now: Video) -> Video | None:
        if past(now, video.generation) or not assembled(now) <= succeeded(parts):
            return None
        if assembled(now) == succeeded(parts) and now.state == state:
            return None
        published = now.published or services.clock.now()
        return msgspec.structs.replace(
            now, state=state, playback=playback, published=published, revision=now.revision + 1,
            duration=length or now.duration,
        )

    if swapped(video) is None:
        return
    _write_master(services, video, parts, prefix)
    attempt.check()
    now = services.catalog.change(video.id, swapped, event=state, traceparent=ticket.traceparent)
    if now.playback.master != playback.master:
        remove_prefix(services, prefix)


def _length(parts: Mapping[str, Part]) -> float | None:
    """Seconds of the longest rendition, for so long it plays: of a file cut short the header promises more."""
    found = [rendition for part in parts.values() for rendition in part.result.get("renditions", [])]
    return max((rendition["duration"] for rendition in found if "duration" in rendition), default=None)


def _write_master(services: Services, video: Video, parts: Mapping[str, Part], prefix: str) -> None:
    encoded = {name: part for name, part in parts.items() if "renditions" in part.result}
    services.blobs.put(
        MEDIA,
        prefix + "master.m3u8",
        master_playlist(encoded, video.generation).encode(),
        content_type=CONTENT_TYPES[".m3u8"],
        cache_control=FOR_EVER,
    )


def _playback(video: Video, parts: Mapping[str, Part], master: str) -> Playback:
    files = {
        key: part_prefix(video.id, video.generation, part.name, part.attempt) + str(part.result[key])
        for part in parts.values()
        for key in ("mp4", "poster", "storyboard")
        if part.result.get(key)
    }
    return Playback(master=master, generation=video.generation, parts=tuple(sorted(succeeded(parts))), **files)
