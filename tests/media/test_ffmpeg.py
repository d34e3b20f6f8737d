"""Processes end when they are told to, with all they started, and when their parent dies."""

import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from shared.errors import Stopped
from workers.media.encode import encode_part
from workers.media.plan import make_plan
from workers.media.probe import probe

ENDLESS = ["-re", "-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=60", "-f", "null", "-"]


def running_with(mark: str) -> list[int]:
    """Processes whose environment carries a mark; never told by name."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if mark.encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def wait_for(condition, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.02)
    return False


def test_work_that_is_told_to_stop_ends_within_a_second_and_leaves_no_process(work, monkeypatch):
    from workers.media.ffmpeg import run

    mark = f"MATINEE_TEST_MARK=stop-{os.getpid()}-{time.monotonic_ns()}"
    monkeypatch.setenv(*mark.split("=", 1))
    failure: list[BaseException] = []

    def go():
        try:
            run(ENDLESS, work)
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=go)
    thread.start()
    assert wait_for(lambda: running_with(mark), 5)
    work.stopped.set()
    thread.join(1.5)
    assert not thread.is_alive()
    assert isinstance(failure[0], Stopped)
    assert running_with(mark) == []


def test_a_killed_worker_takes_its_ffmpeg_with_it():
    mark = f"MATINEE_TEST_MARK=kill-{os.getpid()}-{time.monotonic_ns()}"
    script = (
        "import threading\nfrom shared.settings import Settings\nfrom workers.media.ffmpeg import Work, run\n"
        f"run({ENDLESS!r}, Work(settings=Settings(), stopped=threading.Event()))\n"
    )
    name, value = mark.split("=", 1)
    worker = subprocess.Popen([sys.executable, "-c", script], env={**os.environ, name: value}, cwd=Path.cwd())
    try:
        assert wait_for(lambda: len(running_with(mark)) >= 2, 10)
    finally:
        worker.kill()
        worker.wait()
    assert wait_for(lambda: running_with(mark) == [], 1.0)


def test_stopped_work_records_nothing(served, a_clip, work, tmp_path):
    url = served(a_clip("large"))
    part = make_plan(probe(url, work)).part("ladder")
    stopped = threading.Event()
    threading.Timer(0.3, stopped.set).start()
    with pytest.raises(Stopped):
        encode_part(url, part, tmp_path, replace(work, stopped=stopped))


def test_progress_grows_to_nearly_the_whole(served, a_clip, work, tmp_path):
    url = served(a_clip("large"))
    told: list[float] = []
    part = make_plan(probe(url, work)).part("ladder")
    encode_part(url, part, tmp_path, replace(work, report=told.append))
    assert told == sorted(told)
    assert 0.5 < told[-1] < 1
