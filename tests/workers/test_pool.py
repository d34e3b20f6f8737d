"""The worker process: how it drains, and that nothing of it outlives it."""

import os
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from shared.services import Services, open_services
from shared.settings import Settings
from shared.tickets import decode
from tests.workers.clips import a_clip, a_long_clip
from tests.workers.ladder import only_the_ladder
from tests.workers.making import a_video, waiting
from tests.workers.processes import ROOT, PoolProcess, environment, marked, wait_until
from workers.report import read_reports


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        storage=f"local:{tmp_path / 'data'}", min_free=0, secret_key="for tests only", ffmpeg_threads=1, grace=60
    )


@pytest.fixture
def services(settings: Settings) -> Services:
    """Over the system's clock, as the processes have it."""
    return open_services(settings, caller="test")


def test_sigterm_lets_the_work_in_hand_finish_takes_no_more_and_exits_0(
    services: Services, settings: Settings
) -> None:
    one, other = only_the_ladder(services, a_clip(width=640, height=360, seconds=8)), a_video(services)
    with PoolProcess(settings, "transcode-normal") as pool:
        wait_until(pool.ffmpegs, 20, "the encode has begun")
        services.queues.send("transcode-normal", "the next ticket")
        pool.send_signal(signal.SIGTERM)
        assert pool.wait(30) == 0
    assert "ladder" in services.catalog.parts(one.id, 1)
    assert services.catalog.parts(other.id, 1) == {}
    assert [message.body for message in services.queues.peek("transcode-normal", count=2)] == ["the next ticket"]


def test_work_too_long_for_the_grace_is_given_back_at_once_uncounted(
    services: Services, settings: Settings
) -> None:
    video = only_the_ladder(services, a_long_clip())
    with PoolProcess(settings, "transcode-normal", grace=0.3) as pool:
        wait_until(pool.ffmpegs, 20, "the encode has begun")
        pool.send_signal(signal.SIGTERM)
        assert pool.wait(15) == 0
        assert pool.ffmpegs() == []
    [message] = services.queues.receive("transcode-normal", visibility=timedelta(seconds=1))
    assert message.dequeue_count - decode(message.body).forgiven == 1
    assert services.catalog.parts(video.id, 1) == {}
    assert list(services.scratch.glob("worker-*")) == []


def test_it_says_what_it_has_in_hand(services: Services, settings: Settings) -> None:
    video = only_the_ladder(services, a_long_clip())
    with PoolProcess(settings, "transcode-normal", tasks=3) as pool:
        wait_until(lambda: any(report.tickets for report in read_reports(services.scratch)), 20, "it says so")
        [report] = read_reports(services.scratch)
        assert (report.pid, report.pool, report.queues) == (pool.process.pid, "test", ("transcode-normal",))
        assert report.tickets == (f"encode:{video.id}:1:ladder",)
        pool.send_signal(signal.SIGKILL)
        pool.wait(5)
        assert list(read_reports(services.scratch)) == []


def test_a_second_signal_does_not_wait_for_the_grace(services: Services, settings: Settings) -> None:
    only_the_ladder(services, a_long_clip())
    with PoolProcess(settings, "transcode-normal", grace=300) as pool:
        wait_until(pool.ffmpegs, 20, "the encode has begun")
        pool.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        assert pool.process.poll() is None
        pool.send_signal(signal.SIGTERM)
        assert pool.wait(15) == 0
    assert len(services.queues.receive("transcode-normal")) == 1


def test_an_idle_process_drains_at_once(services: Services, settings: Settings) -> None:
    with PoolProcess(settings, "ingest", "index", tasks=3) as pool:
        wait_until(lambda: "listening" in logged(pool), 20, "it listens")
        began = time.monotonic()
        pool.send_signal(signal.SIGTERM)
        assert pool.wait(10) == 0
    assert time.monotonic() - began < 3


def logged(pool: PoolProcess) -> str:
    assert pool.process.stderr is not None
    return pool.process.stderr.readline().decode()


def test_deleting_a_video_stops_its_running_work_within_two_seconds(services: Services, settings: Settings) -> None:
    video = only_the_ladder(services, a_long_clip())
    with PoolProcess(settings, "transcode-normal") as pool:
        wait_until(pool.ffmpegs, 20, "the encode has begun")
        services.catalog.change(video.id, lambda now: msgspec.structs.replace(now, state="deleted"))
        wait_until(lambda: not pool.ffmpegs(), 2, "its ffmpeg is gone")
        wait_until(lambda: waiting(services, "transcode-normal") == 0, 5, "its ticket is gone")
    assert services.catalog.parts(video.id, 1) == {}


def test_a_killed_worker_leaves_no_ffmpeg_and_the_next_worker_clears_its_folder(
    services: Services, settings: Settings
) -> None:
    only_the_ladder(services, a_long_clip())
    with PoolProcess(settings, "transcode-normal") as pool:
        wait_until(pool.ffmpegs, 20, "the encode has begun")
        for pid in pool.ffmpegs():  # so that it cannot notice by itself that nobody reads its output any more
            os.kill(pid, signal.SIGSTOP)
        pool.send_signal(signal.SIGKILL)
        wait_until(lambda: not marked(pool.mark), 1, "no process of it is left")
    assert list(services.scratch.glob("worker-*"))
    with PoolProcess(settings, "index") as pool:
        wait_until(lambda: "listening" in logged(pool), 20, "it listens")
        assert {path.name.split("-")[1].split(".")[0] for path in services.scratch.glob("worker-*")} == {str(pool.process.pid)}


def test_a_worker_told_to_follows_its_parent(settings: Settings, services: Services) -> None:
    """The parent is a process of its own, killed."""
    parent = (
        "import os, subprocess, sys, time\n"
        "command = [sys.executable, '-m', 'workers.pool', 'test', 'ingest=1', '--die-with-parent', str(os.getpid())]\n"
        "subprocess.Popen(command)\n"
        "time.sleep(60)\n"
    )
    mark = f"parent-{os.getpid()}"
    process = subprocess.Popen([sys.executable, "-c", parent], env=environment(settings, mark), cwd=ROOT)
    try:
        wait_until(lambda: list(services.scratch.iterdir()), 20, "the worker has started")
    finally:
        process.kill()
        process.wait()
    wait_until(lambda: not marked(mark), 10, "the worker is gone too")


def test_a_worker_that_cannot_start_says_why(settings: Settings) -> None:
    command = [sys.executable, "-m", "workers.pool", "test", "ingest=1"]
    environ = environment(settings, "none", lease="soon")
    done = subprocess.run(command, env=environ, cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"MATINEE_LEASE" in done.stderr
