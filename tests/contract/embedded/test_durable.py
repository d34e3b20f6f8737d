"""Durable means on the disk before the call returns; and what the backend promises to be quick is quick."""

import os
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from shared.local import database
from tests.contract.embedded.places import open_blobs, open_queues, open_tables
from tests.contract.making import block_id


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of what was synced to the disk, in order."""
    names: list[str] = []

    def noting(sync: Callable[[int], None]) -> Callable[[int], None]:
        def noted(handle: int) -> None:
            names.append(Path(f"/proc/self/fd/{handle}").readlink().name)
            sync(handle)

        return noted

    monkeypatch.setattr(os, "fsync", noting(os.fsync))
    monkeypatch.setattr(database, "_sync_data", noting(database._sync_data))
    return names


def test_a_blob_is_on_disk_before_its_row_and_its_row_before_the_answer(tmp_path: Path, synced: list[str]) -> None:
    blobs = open_blobs(tmp_path)
    blobs.create_container("media")
    for act in (
        lambda: blobs.put("media", "a", b"x"),
        lambda: blobs.stage_block("media", "a", block_id(1), b"x"),
    ):
        synced.clear()
        act()
        assert len(synced[0]) == 32, "the file, by its opaque name"
        assert synced[-2:] == [synced[0][:2], "blobs.db-wal"]
    synced.clear()
    blobs.commit_block_list("media", "a", [block_id(1)])
    assert synced == ["blobs.db-wal"]


def test_sends_deletes_and_rows_are_on_disk_before_the_answer(tmp_path: Path, synced: list[str]) -> None:
    queues, tables = open_queues(tmp_path), open_tables(tmp_path)
    queues.create("work")
    tables.create_table("table")
    synced.clear()
    message = queues.send("work", "x")
    queues.delete("work", message.id, message.receipt or "")
    tables.insert("table", "p", "r", {})
    assert synced == ["queues.db-wal", "queues.db-wal", "tables.db-wal"]


def test_a_renewal_needs_no_disk(tmp_path: Path, synced: list[str]) -> None:
    queues = open_queues(tmp_path)
    queues.create("work")
    queues.send("work", "x")
    synced.clear()
    (message,) = queues.receive("work")
    queues.update("work", message.id, message.receipt or "", visibility=timedelta(seconds=30))
    assert synced == []


def test_committing_thousands_of_blocks_is_instant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blobs = open_blobs(tmp_path)
    blobs.create_container("sources")
    ids = [block_id(number) for number in range(2500)]
    with monkeypatch.context() as in_memory:  # staging is not what is timed here
        in_memory.setattr(os, "fsync", lambda handle: None)
        in_memory.setattr(database, "_sync_data", lambda handle: None)
        for block in ids:
            blobs.stage_block("sources", "a", block, b"x" * 10)
    began = time.monotonic()
    assert blobs.commit_block_list("sources", "a", ids).size == 25_000
    assert time.monotonic() - began < 1


def test_a_range_of_a_blob_of_many_blocks_is_found_without_walking_it(tmp_path: Path) -> None:
    blobs = open_blobs(tmp_path)
    blobs.create_container("sources")
    blobs.stage_block("sources", "a", block_id(0), b"0123456789")
    blobs.commit_block_list("sources", "a", [block_id(0)] * 50_000)
    began = time.monotonic()
    for start in range(499_000, 499_100):
        assert b"".join(blobs.read("sources", "a", start=start, end=start + 1)) == b"%d" % (start % 10)
    assert time.monotonic() - began < 1
