"""Make the poster and the storyboard; a video without them still plays."""

from contextlib import ExitStack
from typing import Any

from shared.services import Services
from shared.tickets import Pictures
from shared.videos import SOURCES, part_prefix
from workers.attempt import Attempt
from workers.media import source
from workers.media.pictures import Small, make_pictures
from workers.parts import Making, make_part, media_work, serve_rendition

DEADLINE = 3600.0
"""Seconds for the shortest; a longer video has more (workers/parts.py)."""


def handle(ticket: Pictures, services: Services, attempt: Attempt) -> None:
    base = part_prefix(ticket.video, ticket.generation, ticket.part, attempt.id).removeprefix(f"{ticket.video}/")

    def make(making: Making) -> dict[str, Any]:
        work = media_work(services, attempt, making.part)
        with ExitStack() as serving:
            url = serving.enter_context(source.serve(services.blobs, SOURCES, making.video.source))
            small = None
            for part, rendition in making.needed()[:1]:
                served = serving.enter_context(serve_rendition(services, making, part, rendition))
                small = Small(url=served, seconds=rendition["duration"])
            return make_pictures(url, making.part, making.folder, work, base=base, small=small)

    make_part(ticket, services, attempt, make)
