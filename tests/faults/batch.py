"""Many videos and real worker processes over one store, in real time, with short leases."""

from pathlib import Path

from shared.services import Services, open_services
from shared.settings import Settings
from shared.tickets import QUEUES
from shared.videos import Video
from tests.workers.clips import a_clip
from tests.workers.making import a_video, an_ingest

LEASE = 2.0


def hasty(root: Path, storage: str, **changes: object) -> Settings:
    """Leases short enough to run out within a test, and room for many deaths of one ticket."""
    given: dict[str, object] = {
        "storage": storage, "scratch": str(root / "scratch"), "min_free": 0, "secret_key": "for tests only", "ffmpeg_threads": 1,
        "lease": LEASE, "max_tries": 50, "garbage_after": 0.0, **changes,
    }
    return Settings(**given)  # type: ignore[arg-type]


def uploaded(services: Services, *, seconds: float = 6.0) -> Video:
    video = a_video(services, source=a_clip(seconds=seconds, width=640, height=360))
    services.tickets.send(an_ingest(services, video))
    return video


def opened(settings: Settings) -> Services:
    return open_services(settings, caller="test")


def is_done(services: Services) -> bool:
    states = {video.state for video in services.catalog.all()}
    return states == {"published"} and all(services.queues.depth(queue).messages == 0 for queue in QUEUES)
