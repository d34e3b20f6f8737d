"""A worker is frozen in the middle of an encode, ffmpeg and all, until another has finished it, and then woken."""

import os
import signal
import time
from pathlib import Path

import pytest

from shared.services import Services
from shared.videos import MEDIA, Video
from tests.faults.batch import LEASE, hasty, opened
from tests.faults.recording import BACKENDS
from tests.workers.clips import a_long_clip
from tests.workers.ladder import only_the_ladder
from tests.workers.making import waiting
from tests.workers.processes import PoolProcess, marked, wait_until
from workers.sweep import sweep


@pytest.mark.timeout(180)
@pytest.mark.parametrize("storage", BACKENDS, indirect=True)
def test_a_worker_frozen_past_its_lease_and_woken_leaves_the_winner_alone(tmp_path: Path, storage: str) -> None:
    settings = hasty(tmp_path, storage)
    services = opened(settings)
    video = only_the_ladder(services, a_long_clip(seconds=120))
    with PoolProcess(settings, "transcode-normal") as frozen:
        wait_until(frozen.ffmpegs, 30, "the encode has begun")
        for pid in [frozen.process.pid, *frozen.ffmpegs()]:
            os.kill(pid, signal.SIGSTOP)
        asleep = frozen.ffmpegs()
        with PoolProcess(settings, "transcode-normal") as other:
            wait_until(other.ffmpegs, 30, "another worker has taken it")
            began = time.monotonic()
            wait_until(lambda: "ladder" in services.catalog.parts(video.id, 1), 120, "another worker has finished it")
            assert time.monotonic() - began > 2 * LEASE, "too little work: the one woken could have finished it too"
            other.send_signal(signal.SIGTERM)
            assert other.wait(30) == 0
        won, files = services.catalog.parts(video.id, 1)["ladder"], ladder_files(services, video)
        for pid in [frozen.process.pid, *asleep]:
            os.kill(pid, signal.SIGCONT)
        wait_until(lambda: not set(asleep) & set(marked(frozen.mark)), LEASE, "its ffmpeg is killed")
        wait_until(lambda: waiting(services, "transcode-normal") == 0, 10, "the ticket is gone")
        frozen.send_signal(signal.SIGTERM)
        assert frozen.wait(30) == 0
    sweep(services)
    assert services.catalog.parts(video.id, 1)["ladder"] == won
    assert ladder_files(services, video) == files
    assert {name.split("/")[3] for name, _ in files} == {won.attempt}


def ladder_files(services: Services, video: Video) -> list[tuple[str, str]]:
    """Names and ETags: any change of any file shows."""
    return [(blob.name, blob.etag) for blob in services.blobs.list_blobs(MEDIA, prefix=f"{video.id}/g1/ladder/").blobs]
