"""Make the poster and the storyboard; a video without them still plays."""

from typing import Any

from shared.services import Services
from shared.tickets import Pictures
from shared.videos import SOURCES, part_prefix
from workers.attempt import Attempt
from workers.media import source
from workers.media.pictures import make_pictures
from workers.parts import Making, make_part, work_of


def handle(ticket: Pictures, services: Services, attempt: Attempt) -> None:
    base = part_prefix(ticket.video, ticket.generation, ticket.part, attempt.id).removeprefix(f"{ticket.video}/")

    def make(making: Making) -> dict[str, Any]:
        with source.serve(services.blobs, SOURCES, making.video.source) as url:
            return make_pictures(url, making.part, making.folder, work_of(services, attempt), base=base)

    make_part(ticket, services, attempt, make)
