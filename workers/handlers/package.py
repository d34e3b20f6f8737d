"""Join finished segments into the one progressive MP4, without encoding anything again."""

from contextlib import ExitStack
from typing import Any

from shared.services import Services
from shared.tickets import Package
from workers.attempt import Attempt
from workers.media.package import package
from workers.parts import Making, make_part, media_work, serve_rendition

DEADLINE = 3600.0
"""Seconds for the shortest; a longer video has more (workers/parts.py)."""


def handle(ticket: Package, services: Services, attempt: Attempt) -> None:
    def make(making: Making) -> dict[str, Any]:
        """Of the one picture the plan chose, and of the sound."""
        chosen = [
            (part, rendition)
            for part, rendition in making.needed()
            if rendition["kind"] == "audio" or rendition["name"] == making.part.detail["video"]
        ]
        duration = max(rendition["duration"] for _, rendition in chosen)
        with ExitStack() as serving:
            urls = [serving.enter_context(serve_rendition(services, making, *one)) for one in chosen]
            return package(urls, making.folder, media_work(services, attempt, making.part), duration=duration)

    make_part(ticket, services, attempt, make)
