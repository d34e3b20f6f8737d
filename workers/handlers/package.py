"""Join finished segments into the one progressive MP4, without encoding anything again."""

from pathlib import Path
from typing import Any

from shared.errors import Permanent
from shared.services import Services
from shared.tickets import Package
from shared.videos import part_prefix
from workers.attempt import Attempt
from workers.media.package import package
from workers.parts import Making, download, make_part, media_work


def handle(ticket: Package, services: Services, attempt: Attempt) -> None:
    def make(making: Making) -> dict[str, Any]:
        playlists = _fetch(making, services, attempt, attempt.folder / "in")
        return package(playlists, making.folder, media_work(services, attempt, making.part))

    make_part(ticket, services, attempt, make)


def _fetch(making: Making, services: Services, attempt: Attempt, inputs: Path) -> list[Path]:
    """Bring the renditions that are joined, each needed part in a folder of its name; returns their playlists."""
    playlists = []
    for name in making.part.needs:
        part = making.parts[name]
        if part.failed is not None:
            raise Permanent(f"The file for download could not be made: {part.failed}")
        prefix = part_prefix(making.video.id, making.video.generation, name, part.attempt)
        for rendition in part.result["renditions"]:
            if rendition["kind"] == "audio" or rendition["label"] == making.part.detail["video"]:
                download(services, attempt, prefix, inputs / name, starting=rendition["name"])
                playlists.append(inputs / name / rendition["playlist"])
    return playlists
