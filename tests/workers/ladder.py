"""A video of which exactly one ticket is left: its ladder, in transcode-normal."""

from shared.services import Services
from shared.videos import Video
from tests.workers.making import a_video, an_ingest, sent
from workers.attempt import Attempt
from workers.handlers import ingest
from workers.scratch import Scratch


def only_the_ladder(services: Services, source: bytes) -> Video:
    video = a_video(services, source=source)
    ticket, scratch = an_ingest(services, video), Scratch(services.scratch)
    ingest.handle(ticket, services, Attempt(services, ticket, scratch))
    scratch.close()
    for queue in ("ingest", "transcode-high"):
        services.queues.clear(queue)
    assert sent(services, "transcode-normal") == ["encode ladder"]
    return video
