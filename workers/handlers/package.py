"""Join finished segments into the one progressive MP4, without encoding anything again."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from shared.errors import Permanent
from shared.services import Services
from shared.tickets import Package
from shared.videos import Part, part_prefix
from workers.attempt import Attempt
from workers.media.hls import read_playlist
from workers.media.package import package
from workers.parts import Making, download, make_part, work_of


def handle(ticket: Package, services: Services, attempt: Attempt) -> None:
    def make(making: Making) -> dict[str, Any]:
        playlists = [
            _fetch(services, attempt, part_prefix(ticket.video, ticket.generation, part.name, part.attempt), playlist)
            for part, playlist in _wanted(making)
        ]
        return package(playlists, making.folder, work_of(services, attempt))

    make_part(ticket, services, attempt, make)


def _wanted(making: Making) -> Iterator[tuple[Part, str]]:
    """The playlist of the one picture the plan chose, and of the sound."""
    for name in making.part.needs:
        part = making.parts[name]
        if part.failed is not None:
            raise Permanent(f"The file for download could not be made: {part.failed}")
        for rendition in part.result["renditions"]:
            if rendition["kind"] == "audio" or rendition.get("label") == making.part.detail["video"]:
                yield part, rendition["playlist"]


def _fetch(services: Services, attempt: Attempt, prefix: str, playlist: str) -> Path:
    """The playlist with its init section and segments, in a folder of its own."""
    folder = attempt.folder / "in" / playlist.removesuffix(".m3u8")
    download(services, attempt, prefix + playlist, folder / playlist)
    described = read_playlist(folder / playlist)
    for name in (described.init, *(name for name, _ in described.segments)):
        download(services, attempt, prefix + name, folder / name)
    return folder / playlist
