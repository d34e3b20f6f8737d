"""Work several times as long as a lease, with other workers waiting for it: one does it, and renews all the while."""

import json
import signal
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.faults.batch import LEASE, hasty, opened
from tests.workers.clips import a_long_clip
from tests.workers.ladder import only_the_ladder
from tests.workers.making import waiting
from tests.workers.processes import PoolProcess, wait_until

WORKERS = 4


@pytest.mark.timeout(180)
def test_nobody_else_begins_work_that_is_at_work(tmp_path: Path, storage: str) -> None:
    settings = hasty(tmp_path, storage, max_tries=1)
    services = opened(settings)
    video = only_the_ladder(services, a_long_clip(seconds=35))
    with ExitStack() as alive:
        workers = [alive.enter_context(PoolProcess(settings, "transcode-normal")) for _ in range(WORKERS)]
        wait_until(lambda: "ladder" in services.catalog.parts(video.id, 1), 120, "it is done")
        wait_until(lambda: waiting(services, "transcode-normal") == 0, 10, "its ticket is gone")
        for worker in workers:
            worker.send_signal(signal.SIGTERM)
        told = [last_words(worker) for worker in workers]
    renewed = [count for count, _ in told if count]
    assert len(renewed) == 1
    assert renewed[0] >= 4, f"too little work for leases of {LEASE:g} s"
    assert sorted(done for _, done in told) == [0] * (WORKERS - 1) + [1]
    assert max(told) == (renewed[0], 1), "who renewed is who finished"


def last_words(worker: PoolProcess) -> tuple[int, int]:
    """How often it renewed a lease, and how many tickets it deleted."""
    assert worker.process.stderr is not None
    lines = worker.process.stderr.read().decode().splitlines()
    assert worker.wait(30) == 0
    [asked] = [line["operations"] for line in map(json.loads, lines) if line["event"] == "drained"]
    return asked_of(asked, "update"), asked_of(asked, "delete")


def asked_of(asked: dict[str, int], what: str) -> int:
    """Each backend counts under the names of its own bill: "queue update", "queue UpdateMessage"."""
    return sum(count for name, count in asked.items() if name.lower().startswith(f"queue {what}"))
