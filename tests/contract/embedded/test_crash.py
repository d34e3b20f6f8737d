"""Killed at one line of the backend after another: what stood before or what was written stands whole, never a half."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import shared.local
from shared.tables import Change
from tests.contract.embedded.places import bytes_on_disk, open_blobs, open_queues, open_tables
from tests.contract.making import block_id
from tests.workers.clock import HandClock

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")

BACKEND = str(Path(shared.local.__file__).parent)


def kills(work: Callable[[int], object], *, step: int) -> Iterator[tuple[int, bool]]:
    """Do `work` in a child killed at every `step`th line inside the backend, further each time, until one lives.

    Gives the number handed to `work` and whether that child was killed.
    """
    line = 0
    while True:
        line += step
        child = os.fork()
        if child == 0:
            _work_and_die(work, line)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code in (0, -signal.SIGKILL)
        yield line, code != 0
        if code == 0:
            return


def _work_and_die(work: Callable[[int], object], line: int) -> None:
    code = 1
    try:
        _die_at(line)
        work(line)
        code = 0
    finally:
        os._exit(code)


def _die_at(line: int) -> None:
    left = line

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.startswith(BACKEND):
            return None
        if event == "line":
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)


def test_a_put_is_whole_or_not_at_all(tmp_path: Path) -> None:
    blobs = open_blobs(tmp_path)
    blobs.create_container("media")
    blobs.put("media", "a", content := b"first" * 1000)
    for number, killed in kills(lambda n: blobs.put("media", "a", b"%d," % n * 1000), step=3):
        now = blobs.get("media", "a")
        assert now in (content, b"%d," % number * 1000)
        assert killed or now != content
        content = now
    nothing_is_left_over(tmp_path)


def test_a_block_upload_is_whole_or_not_at_all(tmp_path: Path) -> None:
    blobs = open_blobs(tmp_path)
    blobs.create_container("sources")
    ids = [block_id(0), block_id(1)]

    def upload(number: int) -> None:
        for block in ids:
            blobs.stage_block("sources", "a", block, b"%d," % number * 100)
        blobs.commit_block_list("sources", "a", ids)

    upload(0)
    content = blobs.get("sources", "a")
    for number, killed in kills(upload, step=11):
        now = blobs.get("sources", "a")
        assert now in (content, b"%d," % number * 200)
        assert killed or now != content
        content = now
    nothing_is_left_over(tmp_path)


def test_a_delete_is_whole_or_not_at_all(tmp_path: Path) -> None:
    blobs = open_blobs(tmp_path)
    blobs.create_container("media")
    blobs.put("media", "a", b"x" * 100)
    for _, killed in kills(lambda _: blobs.delete("media", "a"), step=2):
        names = [blob.name for blob in blobs.list_blobs("media").blobs]
        assert killed or names == []
        if names:
            assert blobs.get("media", "a") == b"x" * 100
        else:
            blobs.put("media", "a", b"x" * 100)
    nothing_is_left_over(tmp_path)


def test_a_collector_that_dies_removes_nothing_that_is_needed(tmp_path: Path) -> None:
    clock = HandClock()
    blobs = open_blobs(tmp_path, clock)
    blobs.create_container("media")

    def make_garbage() -> None:
        blobs.collect_garbage()
        blobs.put("media", "a", b"old" * 100)
        blobs.put("media", "a", b"new" * 100)
        clock.forward(700)

    make_garbage()
    for _, killed in kills(lambda _: blobs.collect_garbage(), step=7):
        assert blobs.get("media", "a") == b"new" * 100
        if killed:
            make_garbage()
    nothing_is_left_over(tmp_path)


def test_a_message_is_sent_taken_and_deleted_whole_or_not_at_all(tmp_path: Path) -> None:
    clock = HandClock()
    queues = open_queues(tmp_path, clock)
    queues.create("work")
    for number, killed in kills(lambda n: queues.send("work", str(n)), step=4):
        bodies = [message.body for message in queues.peek("work", count=32)]
        assert bodies in ([], [str(number)])
        assert killed or bodies
        queues.clear("work")
    queues.send("work", "x")
    for _ in kills(lambda _: queues.receive("work", visibility=timedelta(seconds=5)), step=5):
        assert queues.depth("work").messages == 1
        clock.forward(6)
    (held,) = queues.receive("work")
    for _, killed in kills(lambda _: queues.delete("work", held.id, held.receipt or ""), step=4):
        assert killed or queues.depth("work").messages == 0
        if not queues.depth("work").messages:
            break


def test_a_batch_is_whole_or_not_at_all(tmp_path: Path) -> None:
    tables = open_tables(tmp_path)
    tables.create_table("table")

    def change_all(number: int) -> None:
        tables.batch("table", "p", [Change(kind="upsert", row=row, properties={"n": number}) for row in "abc"])

    change_all(0)
    for number, killed in kills(change_all, step=4):
        found = {entity.properties["n"] for entity in tables.query("table", "p").entities}
        assert len(found) == 1
        assert killed or found == {number}


def nothing_is_left_over(folder: Path) -> None:
    """After a collection much later the files hold what the blobs hold, byte for byte, and no more."""
    blobs = open_blobs(folder, HandClock())
    blobs.collect_garbage()
    clock = HandClock()
    clock.forward(86400 * 2)
    later = open_blobs(folder, clock)
    later.collect_garbage()
    sizes = [blob.size for one in later.list_containers() for blob in later.list_blobs(one.name).blobs]
    assert bytes_on_disk(folder) == sum(sizes)
    for one in later.list_containers():
        for blob in later.list_blobs(one.name).blobs:
            assert len(later.get(one.name, blob.name)) == blob.size
