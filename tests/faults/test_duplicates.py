"""The same ticket many times, worked by many at once."""

import signal
from contextlib import ExitStack
from pathlib import Path

import pytest

from shared.videos import MEDIA
from tests.faults.batch import hasty, opened
from tests.workers.clips import a_clip
from tests.workers.ladder import only_the_ladder
from tests.workers.making import an_encode, waiting
from tests.workers.processes import PoolProcess, wait_until

COPIES = 20


@pytest.mark.timeout(180)
def test_twenty_copies_of_a_ticket_and_eight_workers_make_one_part(tmp_path: Path, storage: str) -> None:
    settings = hasty(tmp_path, storage, lease=20.0)
    services = opened(settings)
    video = only_the_ladder(services, a_clip(seconds=0.5, width=426, height=240))
    services.queues.clear("transcode-normal")
    for _ in range(COPIES):
        services.tickets.send(an_encode(services, video, "ladder", fast=False))
    with ExitStack() as alive:
        workers = [alive.enter_context(PoolProcess(settings, "transcode-normal", tasks=4)) for _ in range(2)]
        wait_until(lambda: waiting(services, "transcode-normal") == 0, 90, "every copy is gone")
        for worker in workers:
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(30) == 0
    winner = services.catalog.parts(video.id, 1)["ladder"].attempt
    files = services.blobs.list_blobs(MEDIA, prefix=f"{video.id}/g1/ladder/").blobs
    assert {blob.name.split("/")[3] for blob in files} == {winner}
    assert list(services.poison.list()) == []
