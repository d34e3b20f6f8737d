"""What the collector frees and what it must never touch."""

import errno
import fcntl
import io
import os
from pathlib import Path

import pytest

from shared.errors import Busy, Conflict
from shared.local import database
from shared.local.blobs import LocalBlobs
from tests.contract.embedded.places import bytes_on_disk, open_blobs
from tests.contract.making import a_blob_of_blocks, block_id
from tests.workers.clock import HandClock

GRACE = 600
A_DAY = 86400


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


def test_old_versions_are_freed_once_their_readers_had_time(tmp_path: Path, clock: HandClock) -> None:
    blobs = open_blobs(tmp_path, clock)
    blobs.create_container("media")
    for content in (b"one" * 10, b"two" * 10):
        blobs.put("media", "a", content)
    assert blobs.collect_garbage() == 0
    clock.forward(GRACE + 1)
    assert blobs.collect_garbage() == 30
    assert blobs.collect_garbage() == 0
    assert blobs.get("media", "a") == b"two" * 10


def test_replaced_blocks_and_those_left_out_are_freed(tmp_path: Path, clock: HandClock) -> None:
    blobs = open_blobs(tmp_path, clock)
    blobs.create_container("media")
    blobs.stage_block("media", "a", block_id(0), b"replaced")
    blobs.stage_block("media", "a", block_id(9), b"left out")
    a_blob_of_blocks(blobs, "media", "a", b"kept 0", b"kept 1")
    blobs.commit_block_list("media", "a", [block_id(1)])
    clock.forward(GRACE + 1)
    assert blobs.collect_garbage() == len(b"replaced" + b"left out" + b"kept 0")
    assert blobs.get("media", "a") == b"kept 1"


def test_a_deleted_container_is_emptied(tmp_path: Path, clock: HandClock) -> None:
    blobs = open_blobs(tmp_path, clock)
    blobs.create_container("media")
    for number in range(3):
        blobs.put("media", f"{number}", b"0123456789")
        blobs.stage_block("media", f"up{number}", block_id(0), b"0123456789")
    blobs.delete_container("media")
    blobs.collect_garbage()
    clock.forward(GRACE + 1)
    assert blobs.collect_garbage() == 60
    assert bytes_on_disk(tmp_path) == 0
    blobs.create_container("media")


def test_what_a_crashed_writer_left_half_written_is_freed_at_once(tmp_path: Path, clock: HandClock) -> None:
    blobs = open_blobs(tmp_path, clock)
    half = tmp_path / "blobs" / "files" / "new" / ("0" * 32)
    half.write_bytes(b"half")
    assert blobs.collect_garbage() == 4
    assert not half.exists()


def test_what_a_crashed_writer_finished_but_never_named_is_freed_within_a_day(tmp_path: Path, clock: HandClock) -> None:
    blobs = open_blobs(tmp_path, clock)
    blobs.collect_garbage()
    stray = tmp_path / "blobs" / "files" / "ab" / ("ab" * 16)
    stray.parent.mkdir()
    stray.write_bytes(b"stray")
    clock.forward(A_DAY)
    assert blobs.collect_garbage() == 5


@pytest.mark.parametrize("folder", ["new", "ab"])
def test_a_file_its_writer_still_holds_is_left_alone(tmp_path: Path, clock: HandClock, folder: str) -> None:
    blobs = open_blobs(tmp_path, clock)
    file = tmp_path / "blobs" / "files" / folder / ("ab" * 16)
    file.parent.mkdir(exist_ok=True)
    with file.open("wb") as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)
        os.write(writer.fileno(), b"more to come")
        assert blobs.collect_garbage() == 0
        assert file.exists()


def test_a_collection_in_the_middle_of_a_write_leaves_it_alone(tmp_path: Path, clock: HandClock) -> None:
    blobs = open_blobs(tmp_path, clock)
    blobs.create_container("media")
    blobs.put("media", "a", CollectsWhileRead(blobs, b"first", b"second"))
    assert blobs.get("media", "a") == b"firstsecond"


def test_a_write_that_fails_after_its_row_was_committed_keeps_its_bytes(
    tmp_path: Path, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    blobs = open_blobs(tmp_path, clock)
    blobs.create_container("media")

    def broken(handle: int) -> None:
        raise OSError(errno.EIO, "the disk does not answer")

    monkeypatch.setattr(database, "_sync_data", broken)
    with pytest.raises(Busy):
        blobs.put("media", "a", b"there")
    assert blobs.get("media", "a") == b"there"


class CollectsWhileRead(io.RawIOBase):
    """A stream that has the garbage collected before each of its pieces."""

    def __init__(self, blobs: LocalBlobs, *pieces: bytes) -> None:
        self._blobs = blobs
        self._pieces = list(pieces)

    def read(self, size: int = -1) -> bytes:
        self._blobs.collect_garbage()
        return self._pieces.pop(0) if self._pieces else b""


def test_a_reader_too_slow_for_the_grace_is_told(tmp_path: Path, clock: HandClock) -> None:
    blobs = open_blobs(tmp_path, clock)
    blobs.create_container("media")
    a_blob_of_blocks(blobs, "media", "a", b"first", b"second")
    reading = blobs.read("media", "a")
    assert next(reading) == b"first"
    blobs.delete("media", "a")
    clock.forward(GRACE + 1)
    blobs.collect_garbage()
    with pytest.raises(Conflict):
        next(reading)
