"""A whole site copied from one storage to another: resumable, only changes the second time, every byte checked."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from infra.migration.blobs import BLOCK, BlobCopy
from infra.migration.blobs import blobs as all_blobs
from infra.migration.journal import Journal
from infra.migration.tables import TableCopy
from shared.blobs import Blobs
from shared.clock import SystemClock
from shared.errors import Busy, Invalid
from shared.services import open_stores
from shared.settings import Settings
from shared.tables import Tables
from tests.azurite.running import KEY, Account
from tests.infra.running import ROOT

NAMES = ["a", "deep/er/still.m4s", "Ünïcödé 漢字 🦭.mp4", "empty", "dots/../x"]


@dataclass
class Side:
    storage: str
    blobs: Blobs
    tables: Tables


def opened(storage: str) -> Side:
    blobs, _, tables = open_stores(Settings(storage=storage, secret_key="for tests only"), SystemClock(), lambda *_: None)
    return Side(storage, blobs, tables)


@pytest.fixture
def source(tmp_path: Path) -> Side:
    one = opened(f"local:{tmp_path / 'source'}")
    one.blobs.create_container("media")
    one.blobs.create_container("open", access="public", metadata={"kept": "yes"})
    for name in NAMES:
        content = b"" if name == "empty" else name.encode() * 1000
        one.blobs.put("media", name, content, content_type="video/mp4", cache_control="no-store", metadata={"n": "1"})
    one.blobs.put("media", "large", b"0123456789" * (BLOCK // 5), content_type="video/webm")
    one.tables.create_table("lists")
    one.tables.insert("lists", "active", "some video", {})
    one.tables.create_table("videos")
    for partition in ("a", "b", "c"):
        for row in range(150):
            one.tables.insert("videos", partition, f"{row:04}", {"json": "x" * 2000, "n": row, "b": b"\x00\xff"})
    return one


@pytest.fixture(params=["azure", "local"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Side:
    if request.param == "local":
        return opened(f"local:{tmp_path / 'target'}")
    account: Account = request.getfixturevalue("account")
    return opened(account.connection_string)


def copy_blobs(source: Side, target: Side, target_blobs: Blobs | None = None) -> BlobCopy:
    copy = BlobCopy(source.blobs, target_blobs or target.blobs, Journal(target.tables), lambda _: None)
    copy.run()
    return copy


def content(side: Side) -> dict[str, object]:
    return {
        blob.name: (
            side.blobs.get(blob.container, blob.name), blob.content_type, blob.cache_control, dict(blob.metadata)
        )
        for blob in all_blobs(side.blobs)
    }  # fmt: skip


def records(side: Side, table: str = "videos") -> list[tuple[object, ...]]:
    found, marker = [], None
    while True:
        page = side.tables.query(table, None, marker=marker)
        found += [(one.partition, one.row, dict(one.properties)) for one in page.entities]
        marker = page.marker
        if marker is None:
            return found


def test_every_blob_arrives_with_all_that_is_known_of_it(source: Side, target: Side) -> None:
    copy = copy_blobs(source, target)
    assert content(target) == content(source)
    assert copy.copied == len(NAMES) + 1
    assert target.blobs.get_container("open").access == "public"
    assert dict(target.blobs.get_container("open").metadata) == {"kept": "yes"}
    assert copy.check(lambda _: None) == len(NAMES) + 1


def test_a_second_run_copies_what_changed_and_removes_what_went(source: Side, target: Side) -> None:
    copy_blobs(source, target)
    source.blobs.put("media", "a", b"another")
    source.blobs.put("media", "new", b"new")
    source.blobs.delete("media", "empty")
    copy = copy_blobs(source, target)
    assert (copy.copied, copy.removed, copy.kept) == (2, 1, len(NAMES) - 1)
    assert content(target) == content(source)


def test_what_the_new_place_wrote_itself_is_not_removed(source: Side, target: Side) -> None:
    copy_blobs(source, target)
    target.blobs.put("media", "a", b"changed here")
    target.blobs.put("media", "only here", b"1")
    source.blobs.delete("media", "a")
    copy_blobs(source, target)
    assert target.blobs.get("media", "a") == b"changed here"
    assert target.blobs.get("media", "only here") == b"1"


def test_a_blob_changed_at_the_target_is_copied_again(source: Side, target: Side) -> None:
    copy_blobs(source, target)
    target.blobs.put("media", "large", b"half of it")
    assert copy_blobs(source, target).copied == 1
    assert content(target) == content(source)


def test_a_run_cut_short_goes_on_where_it_stopped(source: Side, target: Side) -> None:
    class Failing:
        """The target, that fails after two blobs."""

        def __init__(self) -> None:
            self.commits = 0

        def __getattr__(self, name: str) -> object:
            return getattr(target.blobs, name)

        def commit_block_list(self, *arguments: object, **named: object) -> object:
            self.commits += 1
            if self.commits > 2:
                raise Busy("the network is gone")
            return target.blobs.commit_block_list(*arguments, **named)  # type: ignore[arg-type]

    with pytest.raises(Busy):
        copy_blobs(source, target, Failing())  # type: ignore[arg-type]
    copy = copy_blobs(source, target)
    assert copy.kept >= 2
    assert content(target) == content(source)


def test_bytes_that_rotted_at_the_source_are_told_and_not_passed_on(
    source: Side, target: Side, tmp_path: Path
) -> None:
    source.blobs.put("media", "rotten", b"good bytes" * 2000)
    [file] = [path for path in (tmp_path / "source").rglob("*") if path.is_file() and path.stat().st_size == 20_000]
    file.chmod(0o600)
    file.write_bytes(b"bad  bytes" * 2000)
    with pytest.raises(Invalid, match="rotten in media is damaged at the source"):
        copy_blobs(source, target)
    assert "rotten" not in content(target)


def test_a_check_finds_a_byte_that_differs(source: Side, target: Side) -> None:
    copy = copy_blobs(source, target)
    target.blobs.put("media", "deep/er/still.m4s", b"deep/er/stilL.m4s" * 1000)
    with pytest.raises(Invalid, match=r"deep/er/still\.m4s in media is not the same"):
        copy.check(lambda _: None)


def test_tables_arrive_whole_and_again_only_in_what_changed(source: Side, target: Side) -> None:
    first = TableCopy(source.tables, target.tables)
    first.run()
    assert (first.written, first.removed, first.differences()) == (451, 0, 0)
    assert records(target) == records(source)
    source.tables.delete("videos", "b", "0007")
    source.tables.upsert("videos", "c", "0001", {"n": 1})
    source.tables.insert("videos", "d", "new", {"n": 2**40, "x": 1.0, "y": True})
    again = TableCopy(source.tables, target.tables)
    assert again.differences() == 3
    again.run()
    assert (again.written, again.removed) == (2, 1)
    assert records(target) == records(source)


def manage(*words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "infra.manage", "--data", words[0], "storage", "copy", *words[1:]]
    given = {**os.environ, **environment}
    return subprocess.run(command, cwd=ROOT, env=given, capture_output=True, text=True, timeout=60)


def test_the_command_says_what_it_did(source: Side, target: Side, tmp_path: Path) -> None:
    done = manage(str(tmp_path / "any"), source.storage, "env:THERE", "--check", THERE=target.storage)
    assert done.returncode == 0, done.stderr
    assert f"blobs: {len(NAMES) + 1} copied, 0 were there, 0 removed" in done.stdout
    assert f"compared {len(NAMES) + 1} blobs and every record: the same on both sides" in done.stdout
    assert KEY not in done.stdout + done.stderr
    assert "1 videos are at work; the first sweep" in done.stdout
    assert content(target) == content(source)


def test_a_source_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    done = manage(str(tmp_path / "any"), f"local:{tmp_path / 'typo'}", f"local:{tmp_path / 'target'}")
    assert (done.returncode, done.stderr) == (1, f"there is no site in {tmp_path / 'typo'}\n")
    assert not (tmp_path / "typo").exists()
    assert not (tmp_path / "target").exists()


def test_a_variable_can_hold_a_storage_with_its_key(tmp_path: Path) -> None:
    done = manage(str(tmp_path / "any"), "env:NOT_SET_ANYWHERE", f"local:{tmp_path / 'target'}")
    assert (done.returncode, done.stderr) == (1, "the variable NOT_SET_ANYWHERE is not set\n")
