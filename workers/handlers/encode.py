"""Encode the renditions of one part: video rungs of one decode, or an audio track."""

from typing import Any

from shared.services import Services
from shared.tickets import Encode
from shared.videos import SOURCES
from workers.attempt import Attempt
from workers.media import source
from workers.media.encode import encode_part
from workers.parts import Making, make_part, media_work

DEADLINE = 3600.0
"""Seconds for the shortest; a longer video has more (workers/parts.py)."""


def handle(ticket: Encode, services: Services, attempt: Attempt) -> None:
    def make(making: Making) -> dict[str, Any]:
        with source.serve(services.blobs, SOURCES, making.video.source) as url:
            return encode_part(url, making.part, making.folder, media_work(services, attempt, making.part))

    make_part(ticket, services, attempt, make)
