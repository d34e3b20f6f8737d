"""A full disk: named as such, nothing lost, finished work can still be recorded, and all goes on once there is room."""

import io
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from shared.errors import Full
from tests.contract.embedded.places import bytes_on_disk, open_blobs, open_queues, open_tables
from tests.contract.embedded.small_disk import MIB, SmallDisk, small_disk
from tests.contract.making import block_id

A_MINUTE = timedelta(minutes=1)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path) as made:
        yield made


def test_bytes_that_do_not_fit_are_refused_and_leave_nothing_behind(disk: SmallDisk) -> None:
    blobs = open_blobs(disk.folder)
    blobs.create_container("media")
    blobs.put("media", "a", b"before")
    disk.fill()
    with pytest.raises(Full):
        blobs.put("media", "a", io.BytesIO(bytes(3 * MIB)))
    with pytest.raises(Full):
        blobs.stage_block("media", "b", block_id(1), bytes(MIB))
    assert blobs.get("media", "a") == b"before"
    assert bytes_on_disk(disk.folder) == len(b"before")
    disk.free()
    blobs.put("media", "a", b"after")
    assert blobs.get("media", "a") == b"after"


def test_a_blob_larger_than_the_disk_gives_its_space_back(disk: SmallDisk) -> None:
    blobs = open_blobs(disk.folder)
    blobs.create_container("media")
    with disk.limited():
        for _ in range(3):
            with pytest.raises(Full):
                blobs.put("media", "a", io.BytesIO(bytes(20 * MIB)))
    blobs.put("media", "b", bytes(3 * MIB))


def test_messages_that_do_not_fit_are_refused_and_the_accepted_ones_stay(disk: SmallDisk) -> None:
    queues = open_queues(disk.folder)
    queues.create("work")
    accepted = [queues.send("work", f"{number}").id for number in range(20)]
    disk.fill()
    accepted += until_full(lambda: queues.send("work", "x" * 40_000).id)
    disk.free()
    received = []
    while messages := queues.receive("work", count=32):
        received += [message.id for message in messages]
    assert sorted(received) == sorted(accepted)
    queues.send("work", "goes on")


def until_full(act: Callable[[], str]) -> list[str]:
    done = []
    try:
        while len(done) < 1000:
            done.append(act())
    except Full:
        return done
    raise AssertionError("the disk was never full")


def test_finished_work_can_be_recorded_on_a_full_disk(disk: SmallDisk) -> None:
    queues, tables, blobs = open_queues(disk.folder), open_tables(disk.folder), open_blobs(disk.folder)
    queues.create("work")
    tables.create_table("parts")
    blobs.create_container("media")
    for number in range(32):
        queues.send("work", "x" * 10_000)
        blobs.put("media", f"{number}", b"x" * 10_000)
    disk.fill()
    if not disk.has_reserve:
        with pytest.raises(Full):
            queues.receive("work")
        return
    held = queues.receive("work", count=32)
    for message in held:
        receipt = queues.update("work", message.id, message.receipt or "", visibility=A_MINUTE)
        tables.insert("parts", "video", message.id, {"done": True})
        queues.delete("work", message.id, receipt)
        blobs.delete("media", blobs.list_blobs("media", limit=1).blobs[0].name)
    assert queues.depth("work").messages == 0
    assert len(tables.query("parts", "video").entities) == 32
    assert blobs.list_blobs("media").blobs == ()


def test_the_reserve_is_made_again_once_there_is_room(disk: SmallDisk) -> None:
    queues = open_queues(disk.folder)
    queues.create("work")
    for _ in range(3):
        message = queues.send("work", "x" * 40_000)
        disk.fill()
        if disk.has_reserve:
            queues.delete("work", message.id, message.receipt or "")
        else:
            with pytest.raises(Full):
                queues.delete("work", message.id, message.receipt or "")
        disk.free()
        for _ in range(200):
            queues.send("work", "y")
        queues.clear("work")
