"""How any part is made: looked up first, made in a private folder, uploaded, recorded once, then the next is sent."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog

from shared.blobs import every_page
from shared.errors import MatineeError, Permanent
from shared.services import Services
from shared.tickets import PartTicket
from shared.videos import MEDIA, Part, PartPlan, Plan, Video, part_prefix
from workers.attempt import Attempt
from workers.media import source
from workers.media.ffmpeg import Work
from workers.media.hls import parse_playlist
from workers.steps import past, send_next

CONTENT_TYPES = {
    ".m3u8": "application/vnd.apple.mpegurl",
    ".m4s": "video/mp4",
    ".mp4": "video/mp4",
    ".m4a": "audio/mp4",
    ".jpg": "image/jpeg",
    ".webp": "image/webp",
    ".png": "image/png",
    ".vtt": "text/vtt; charset=utf-8",
}
SECONDS_EACH = 400.0
"""Of work that a second of video may take: more than the slowest machine needs for one of 4K HDR."""
FOR_EVER = "private, max-age=31536000, immutable"


@dataclass(frozen=True, kw_only=True)
class Making:
    """What the maker of a part is given: its plan, the finished parts, and the folder to fill."""

    video: Video
    part: PartPlan
    parts: Mapping[str, Part]
    folder: Path

    def needed(self) -> list[tuple[Part, dict[str, Any]]]:
        """Every rendition of the parts this one is made from. Raises Permanent if one of those was given up."""
        parts = [self.parts[name] for name in self.part.needs]
        for part in parts:
            if part.failed is not None:
                raise Permanent(f"it is made from a part that failed: {part.failed}")
        return [(part, rendition) for part in parts for rendition in part.result["renditions"]]


def media_work(services: Services, attempt: Attempt, part: PartPlan) -> Work:
    """What surrounds a run of ffmpeg; a part no one waits for to press play leaves the processor to those that are."""
    nice = 0 if part.fast else 5
    settings, stopped = services.settings, attempt.stopped
    return Work(settings=settings, stopped=stopped, report=attempt.report, nice=nice, spent=attempt.spend)


Make = Callable[[Making], dict[str, Any]]
"""Makes a part and returns its result."""


def make_part(ticket: PartTicket, services: Services, attempt: Attempt, make: Make) -> None:
    """Before: make it. At: only send what follows. Past: nothing."""
    found = _find(ticket, services)
    if found is None:
        return
    video, plan = found
    parts = services.catalog.parts(video.id, video.generation)
    if ticket.part not in parts:
        attempt.allow(SECONDS_EACH * plan.duration)
        attempt.report(0.0)
        folder = attempt.folder / "out"
        folder.mkdir()
        result = make(Making(video=video, part=plan.part(ticket.part), parts=parts, folder=folder))
        record(services, ticket, attempt, folder, result)
    send_next(services, video.id, traceparent=ticket.traceparent, after=ticket.part)


def record(services: Services, ticket: PartTicket, attempt: Attempt, folder: Path, result: dict[str, Any]) -> None:
    """Blobs first, then the row. The first row wins; who comes second removes its own files, as far as it can."""
    prefix = part_prefix(ticket.video, ticket.generation, ticket.part, attempt.id)
    upload(services, attempt, folder, prefix)
    attempt.check()
    part = Part(name=ticket.part, attempt=attempt.id, result=result)
    winner = services.catalog.record_part(
        ticket.video, ticket.generation, part, traceparent=ticket.traceparent
    )
    if winner.attempt != attempt.id:
        structlog.get_logger().info("part was made by another", part=ticket.part, winner=winner.attempt)
        remove_prefix(services, prefix)


def upload(services: Services, attempt: Attempt, folder: Path, prefix: str) -> None:
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        attempt.check()
        with path.open("rb") as file:
            services.blobs.put(
                MEDIA,
                prefix + path.relative_to(folder).as_posix(),
                file,
                content_type=CONTENT_TYPES.get(path.suffix, "application/octet-stream"),
                cache_control=FOR_EVER,
            )


def remove_prefix(services: Services, prefix: str) -> None:
    """Best effort: what is left here, the sweep removes."""
    try:
        for name in blob_names(services, MEDIA, prefix):
            services.blobs.delete(MEDIA, name)
    except MatineeError as error:
        structlog.get_logger().info("files left for the sweep", prefix=prefix, reason=str(error))


def blob_names(services: Services, container: str, prefix: str) -> list[str]:
    return [blob.name for page in every_page(services.blobs, container, prefix=prefix) for blob in page.blobs]


@contextmanager
def serve_rendition(
    services: Services, making: Making, part: Part, rendition: Mapping[str, Any]
) -> Iterator[str]:
    """The URL of a finished rendition as one fragmented MP4, on this machine alone. Raises as `source.serve` does."""
    prefix = part_prefix(making.video.id, making.video.generation, part.name, part.attempt)
    playlist = parse_playlist(services.blobs.get(MEDIA, prefix + rendition["playlist"]).decode())
    with source.serve(services.blobs, MEDIA, *(prefix + name for name in playlist.files)) as url:
        yield url


def _find(ticket: PartTicket, services: Services) -> tuple[Video, Plan] | None:
    """The video and its plan, or None where there is nothing to do (any more)."""
    video = services.catalog.find(ticket.video)
    if video is None or past(video, ticket.generation):
        return None
    plan = services.catalog.find_plan(video)
    return None if plan is None else (video, plan)
