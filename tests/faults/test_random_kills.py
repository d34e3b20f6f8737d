"""Workers are killed at random, again and again, over a batch of videos: none is lost, none is done twice."""

import os
import random
import signal
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from shared.services import Services
from shared.tickets import QUEUES
from tests.faults.batch import hasty, is_done, opened, uploaded
from tests.faults.verdict import assert_media_is_exactly_what_is_published, assert_queues_are_empty
from tests.workers.processes import PoolProcess, marked, wait_until
from workers.sweep import sweep

VIDEOS = 4
KILLS = 6
SEED = int(os.environ.get("MATINEE_TEST_SEED", "20300101"))
"""Set it to repeat a run that failed."""


@pytest.mark.timeout(300)
def test_a_batch_survives_workers_killed_at_random(tmp_path: Path, storage: str) -> None:
    settings, chance = hasty(tmp_path, storage), random.Random(SEED)
    services = opened(settings)
    ledger = {uploaded(services, seconds=4.0).id for _ in range(VIDEOS)}
    with ExitStack() as alive:
        workers = [alive.enter_context(PoolProcess(settings, *QUEUES)) for _ in range(2)]
        at_work = 0
        for number in range(KILLS):
            time.sleep(chance.uniform(0.7, 2.0))
            victim = chance.randrange(len(workers))
            if number % 2:
                wait_for(lambda: workers[victim].ffmpegs() or is_done(services), 10)  # noqa: B023 - called at once
            at_work += bool(workers[victim].ffmpegs())
            workers[victim].send_signal(signal.SIGKILL)
            wait_until(partial(is_gone, workers[victim]), 1, "no child of the victim is left")
            workers[victim] = alive.enter_context(PoolProcess(settings, *QUEUES))
        assert at_work, "no victim had anything in hand: nothing was tried"
        wait_until(lambda: is_done(services), 150, f"all are published (seed {SEED})")
        for worker in workers:
            wait_until(worker.heeds_signals, 20, "a worker has started")
            worker.send_signal(signal.SIGTERM)
        assert [worker.wait(30) for worker in workers] == [0, 0]
    check_all(services, ledger)


def wait_for(holds: Callable[[], object], seconds: float) -> None:
    until = time.monotonic() + seconds
    while not holds() and time.monotonic() < until:
        time.sleep(0.02)


def is_gone(worker: PoolProcess) -> bool:
    return not marked(worker.mark)


def check_all(services: Services, ledger: set[str]) -> None:
    sweep(services)
    videos = list(services.catalog.all())
    assert {video.id for video in videos} == ledger
    assert_queues_are_empty(services)
    for video in videos:
        assert [event.what for event in services.catalog.events(video.id)].count("published") == 1
        assert services.finder.search(video.title).total == len(ledger)
    assert_media_is_exactly_what_is_published(services, *videos)
    assert list(services.scratch.glob("worker-*")) == []
