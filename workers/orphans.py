"""Blobs nobody refers to: losers' files, old playlists, media and sources of deleted videos, blocks of no upload."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import groupby

from shared.blobs import Blob
from shared.errors import NotFound
from shared.services import Services
from shared.videos import MEDIA, SOURCES, TERMINAL, Part, Video
from workers.findings import Finding
from workers.steps import ASSEMBLE


def orphans(services: Services) -> Iterator[Finding]:
    """Only what is older than `garbage_after`, and never anything a record or a running attempt may need."""
    for video_id, blobs in groupby(_blobs(services, MEDIA), key=_video_of):
        yield from _unused_media(services, _find(services, video_id), list(blobs))
    for blob in _blobs(services, SOURCES):
        video = _find(services, _video_of(blob))
        if _is_old(services, blob.last_modified) and (_is_gone(video) or (video and video.source != blob.name)):
            yield _remove(services, blob)
    for name, last in list(services.blobs.list_uncommitted(SOURCES)):
        video = _find(services, name.partition("/")[0])
        if _is_old(services, last) and (video is None or video.state != "uploading"):
            yield Finding(
                what="drop blocks of no upload",
                about=f"{SOURCES}/{name}",
                mend=lambda name=name: services.blobs.discard_uncommitted(SOURCES, name),  # type: ignore[misc]
            )


def _unused_media(services: Services, video: Video | None, blobs: list[Blob]) -> Iterator[Finding]:
    known: dict[int, dict[str, Part]] = {}
    for blob in blobs:
        if not _is_old(services, blob.last_modified):
            continue
        if video is None or _is_gone(video) or not _is_used(services, video, blob, known):
            yield _remove(services, blob)


def _is_used(services: Services, video: Video, blob: Blob, known: dict[int, dict[str, Part]]) -> bool:
    steps = blob.name.split("/")
    if len(steps) < 5 or not steps[1][1:].isdigit():
        return False
    generation, part, attempt = int(steps[1][1:]), steps[2], steps[3]
    if generation not in (video.generation, video.playback.generation):
        return False
    if part == ASSEMBLE:
        return video.playback.master == blob.name or (generation == video.generation and video.state not in TERMINAL)
    if generation not in known:
        known[generation] = services.catalog.parts(video.id, generation)
    if part not in known[generation]:
        # No row yet: an attempt may be at work on it, unless nothing will be made any more.
        return generation == video.generation and video.state not in TERMINAL
    return known[generation][part].attempt == attempt


def _blobs(services: Services, container: str) -> Iterator[Blob]:
    marker = None
    while True:
        page = services.blobs.list_blobs(container, marker=marker)
        yield from page.blobs
        marker = page.marker
        if marker is None:
            return


def _video_of(blob: Blob) -> str:
    return blob.name.partition("/")[0]


def _find(services: Services, video_id: str) -> Video | None:
    try:
        return services.catalog.get(video_id)
    except NotFound:
        return None


def _is_gone(video: Video | None) -> bool:
    return video is None or video.state == "deleted"


def _is_old(services: Services, moment: datetime) -> bool:
    return services.clock.now() - moment >= timedelta(seconds=services.settings.garbage_after)


def _remove(services: Services, blob: Blob) -> Finding:
    def mend() -> None:
        try:
            services.blobs.delete(blob.container, blob.name, if_match=blob.etag)
        except NotFound:  # another sweep, or the erasing of the video, was here
            return

    return Finding(what="remove an unused blob", about=f"{blob.container}/{blob.name}", mend=mend)
