"""Make the poster and the storyboard; a video without them still plays."""

from typing import Any

from shared.services import Services
from shared.tickets import Pictures
from shared.videos import SOURCES, part_prefix
from workers.attempt import Attempt
from workers.media import source
from workers.media.pictures import make_pictures
from workers.parts import Making, make_part, media_work


def handle(ticket: Pictures, services: Services, attempt: Attempt) -> None:
    prefix = part_prefix(ticket.video, ticket.generation, ticket.part, attempt.id)

    def make(making: Making) -> dict[str, Any]:
        work = media_work(services, attempt, making.part)
        with source.serve(services.blobs, SOURCES, making.video.source) as url:
            return make_pictures(url, making.part, making.folder, work, base=prefix.removeprefix(f"{ticket.video}/"))

    make_part(ticket, services, attempt, make)
