"""Conditions: what does not hold raises Conflict and changes nothing."""

from datetime import timedelta

import pytest

from shared.blobs import Blobs
from shared.errors import Conflict, NotFound
from tests.contract.backend import Backend
from tests.contract.making import a_blob_of_blocks, block_id

A_MINUTE = timedelta(minutes=1)


def test_a_write_may_ask_for_the_version_it_knows(blobs: Blobs, container: str) -> None:
    known = blobs.put(container, "a", b"1").etag
    newer = blobs.put(container, "a", b"2", if_match=known).etag
    for stale in (known, '"never"'):
        with pytest.raises(Conflict):
            blobs.put(container, "a", b"3", if_match=stale)
    assert blobs.stat(container, "a").etag == newer
    assert blobs.get(container, "a") == b"2"


def test_a_write_may_ask_that_the_blob_exists(blobs: Blobs, container: str) -> None:
    with pytest.raises(Conflict):
        blobs.put(container, "a", b"1", if_match="*")
    blobs.put(container, "a", b"1")
    blobs.put(container, "a", b"2", if_match="*")
    assert blobs.get(container, "a") == b"2"


def test_a_write_may_ask_that_nothing_is_there(blobs: Blobs, container: str) -> None:
    blobs.put(container, "a", b"1", if_none_match="*")
    with pytest.raises(Conflict):
        blobs.put(container, "a", b"2", if_none_match="*")
    assert blobs.get(container, "a") == b"1"


def test_a_write_may_ask_that_nothing_changed_since(backend: Backend, blobs: Blobs, container: str) -> None:
    seen = blobs.put(container, "a", b"1").last_modified
    blobs.put(container, "a", b"2", if_unmodified_since=seen)
    backend.wait(2)
    blobs.put(container, "a", b"3")
    with pytest.raises(Conflict):
        blobs.put(container, "a", b"4", if_unmodified_since=seen)
    assert blobs.get(container, "a") == b"3"


def test_a_commit_heeds_conditions(blobs: Blobs, container: str) -> None:
    first = a_blob_of_blocks(blobs, container, "a", b"1")
    blobs.stage_block(container, "a", block_id(7), b"2")
    for refused in ({"if_none_match": "*"}, {"if_match": '"never"'}):
        with pytest.raises(Conflict):
            blobs.commit_block_list(container, "a", [block_id(7)], **refused)
    blobs.commit_block_list(container, "a", [block_id(7)], if_match=first.etag)
    assert blobs.get(container, "a") == b"2"


def test_of_two_commits_that_ask_for_nothing_there_the_first_wins(blobs: Blobs, container: str) -> None:
    for number in (0, 1):
        blobs.stage_block(container, "a", block_id(number), b"%d" % number)
    blobs.commit_block_list(container, "a", [block_id(0)], if_none_match="*")
    with pytest.raises(Conflict):
        blobs.commit_block_list(container, "a", [block_id(0)], if_none_match="*")
    assert blobs.get(container, "a") == b"0"


def test_metadata_and_delete_heed_the_version(blobs: Blobs, container: str) -> None:
    stale = blobs.put(container, "a", b"1").etag
    fresh = blobs.put(container, "a", b"2").etag
    with pytest.raises(Conflict):
        blobs.set_metadata(container, "a", {"k": "v"}, if_match=stale)
    with pytest.raises(Conflict):
        blobs.delete(container, "a", if_match=stale)
    changed = blobs.set_metadata(container, "a", {"k": "v"}, if_match=fresh)
    blobs.delete(container, "a", if_match=changed.etag)
    with pytest.raises(NotFound):
        blobs.stat(container, "a")


def test_a_read_may_ask_for_a_version(blobs: Blobs, container: str) -> None:
    etag = blobs.put(container, "a", b"1").etag
    assert blobs.get(container, "a", if_match=etag) == b"1"
    assert blobs.get(container, "a", if_match="*") == b"1"
    with pytest.raises(Conflict):
        blobs.get(container, "a", if_match='"never"')


def test_a_read_may_ask_for_a_change(backend: Backend, blobs: Blobs, container: str) -> None:
    seen = blobs.put(container, "a", b"1")
    with pytest.raises(Conflict):
        blobs.get(container, "a", if_none_match=seen.etag)
    with pytest.raises(Conflict):
        blobs.get(container, "a", if_modified_since=seen.last_modified)
    assert blobs.get(container, "a", if_modified_since=seen.last_modified - A_MINUTE) == b"1"
    backend.wait(2)
    blobs.put(container, "a", b"2")
    assert blobs.get(container, "a", if_none_match=seen.etag) == b"2"
    assert blobs.get(container, "a", if_modified_since=seen.last_modified) == b"2"
