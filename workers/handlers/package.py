"""Join finished segments into the one progressive MP4, without encoding anything again."""

from pathlib import Path
from typing import Any

from shared.errors import Permanent
from shared.services import Services
from shared.tickets import Package
from shared.videos import part_prefix
from workers.attempt import Attempt
from workers.media.package import package
from workers.parts import Making, download, make_part


def handle(ticket: Package, services: Services, attempt: Attempt) -> None:
    def make(making: Making) -> dict[str, Any]:
        inputs = attempt.folder / "in"
        _fetch(making, services, attempt, inputs)
        return package(
            inputs,
            making.part,
            making.folder,
            parts=making.parts,
            settings=services.settings,
            stopped=attempt.stopped,
            report=attempt.report,
        )

    make_part(ticket, services, attempt, make)


def _fetch(making: Making, services: Services, attempt: Attempt, inputs: Path) -> None:
    """The needed parts' files, each part in a folder of its name."""
    for name in making.part.needs:
        part = making.parts[name]
        if part.failed is not None:
            raise Permanent(f"The file for download could not be made: {part.failed}")
        prefix = part_prefix(making.video.id, making.video.generation, name, part.attempt)
        download(services, attempt, prefix, inputs / name)
