"""Blobs: written whole, read whole or in part, never seen half."""

import io
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.blobs import MAX_METADATA_BYTES, Blobs
from shared.errors import Invalid, NotFound
from tests.contract.backend import Backend
from tests.contract.making import a_blob_of_blocks, fresh, md5

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)


def test_a_blob_put_is_read_back_whole(blobs: Blobs, container: str) -> None:
    blobs.put(container, "a", b"hello")
    assert blobs.get(container, "a") == b"hello"


def test_put_says_what_it_stored(blobs: Blobs, container: str) -> None:
    blob = blobs.put(
        container, "a", b"hello", content_type="text/plain", cache_control="max-age=60", metadata={"by": "me"}
    )
    assert blob == blobs.stat(container, "a")
    assert (blob.container, blob.name, blob.size, blob.content_type) == (container, "a", 5, "text/plain")
    assert (blob.cache_control, blob.content_md5, blob.metadata) == ("max-age=60", md5(b"hello"), {"by": "me"})
    assert blob.last_modified.utcoffset() is not None


def test_a_blob_may_be_empty(blobs: Blobs, container: str) -> None:
    assert blobs.put(container, "a", b"").size == 0
    assert blobs.get(container, "a") == b""
    assert list(blobs.read(container, "a")) == []


def test_put_overwrites_whole(blobs: Blobs, container: str) -> None:
    blobs.put(container, "a", b"a long text", content_type="text/plain", metadata={"by": "me"})
    blob = blobs.put(container, "a", b"short")
    assert blobs.get(container, "a") == b"short"
    assert (blob.content_type, blob.metadata) == ("application/octet-stream", {})


def test_put_takes_a_stream(blobs: Blobs, container: str) -> None:
    data = bytes(range(256)) * 10_000
    assert blobs.put(container, "a", io.BytesIO(data)).size == len(data)
    assert blobs.get(container, "a") == data


def test_memory_stays_flat_while_a_stream_is_put_and_read(blobs: Blobs, container: str) -> None:
    small, large = (_peak_of_put_and_read(blobs, container, size * 1024 * 1024) for size in (16, 64))
    assert large < small + 1024 * 1024
    assert large < 64 * 1024 * 1024


def _peak_of_put_and_read(blobs: Blobs, container: str, size: int) -> int:
    with Zeros(size) as data:
        tracemalloc.start()
        blobs.put(container, "a", data)
        assert sum(len(piece) for piece in blobs.read(container, "a")) == size
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return peak


def test_a_failing_stream_leaves_the_blob_as_it_was(blobs: Blobs, container: str) -> None:
    blobs.put(container, "a", b"before")
    with pytest.raises(ConnectionResetError):
        blobs.put(container, "a", BrokenOff(b"half"))
    assert blobs.get(container, "a") == b"before"


def test_a_wrong_checksum_is_refused_and_changes_nothing(blobs: Blobs, container: str) -> None:
    blobs.put(container, "a", b"before")
    with pytest.raises(Invalid):
        blobs.put(container, "a", b"after", content_md5=md5(b"else"))
    assert blobs.get(container, "a") == b"before"


def test_a_right_checksum_is_accepted(blobs: Blobs, container: str) -> None:
    assert blobs.put(container, "a", b"hello", content_md5=md5(b"hello")).content_md5 == md5(b"hello")


def test_the_etag_is_new_at_every_change(blobs: Blobs, container: str) -> None:
    etags = [blobs.put(container, "a", b"same").etag, blobs.put(container, "a", b"same").etag]
    etags.append(blobs.set_metadata(container, "a", {"k": "v"}).etag)
    etags.append(blobs.set_metadata(container, "a", {"k": "v"}).etag)
    etags.append(a_blob_of_blocks(blobs, container, "a", b"x").etag)
    assert len(set(etags)) == len(etags)


def test_last_modified_moves_with_a_change(backend: Backend, blobs: Blobs, container: str) -> None:
    first = blobs.put(container, "a", b"1").last_modified
    backend.wait(1.1)
    assert blobs.put(container, "a", b"2").last_modified > first


def test_a_missing_blob_is_not_found(blobs: Blobs, container: str) -> None:
    for act in (blobs.stat, blobs.get, blobs.read, blobs.delete, blobs.get_block_list, blobs.break_lease):
        with pytest.raises(NotFound):
            act(container, "nothing")
    with pytest.raises(NotFound):
        blobs.set_metadata(container, "nothing", {})
    with pytest.raises(NotFound):
        blobs.acquire_lease(container, "nothing", seconds=15)


def test_a_missing_container_is_not_found(blobs: Blobs) -> None:
    missing = fresh("c")
    for act in (blobs.stat, blobs.get, blobs.read, blobs.delete, blobs.get_block_list):
        with pytest.raises(NotFound):
            act(missing, "a")
    with pytest.raises(NotFound):
        blobs.put(missing, "a", b"x")
    with pytest.raises(NotFound):
        blobs.list_blobs(missing)


def test_a_deleted_blob_is_gone(blobs: Blobs, container: str) -> None:
    blobs.put(container, "a", b"x")
    blobs.delete(container, "a")
    with pytest.raises(NotFound):
        blobs.get(container, "a")
    assert blobs.list_blobs(container).blobs == ()


def test_metadata_is_overwritten_whole_and_the_data_stays(blobs: Blobs, container: str) -> None:
    blobs.put(container, "a", b"x", content_type="text/plain", metadata={"one": "1"})
    blob = blobs.set_metadata(container, "a", {"two": "2"})
    assert blob.metadata == blobs.stat(container, "a").metadata == {"two": "2"}
    assert (blob.content_type, blobs.get(container, "a")) == ("text/plain", b"x")


def test_metadata_is_at_most_8_kib(blobs: Blobs, container: str) -> None:
    fits = {"k": "v" * (MAX_METADATA_BYTES - 1)}
    blobs.put(container, "a", b"x", metadata=fits)
    assert blobs.stat(container, "a").metadata == fits
    for act in (lambda m: blobs.put(container, "a", b"x", metadata=m), lambda m: blobs.set_metadata(container, "a", m)):
        with pytest.raises(Invalid):
            act({"k": "v" * MAX_METADATA_BYTES})


@given(name=names, data=st.binary(max_size=200))
def test_names_hold_any_unicode(blobs: Blobs, container: str, name: str, data: bytes) -> None:
    blobs.put(container, name, data)
    assert blobs.get(container, name) == data
    assert name in [blob.name for blob in blobs.list_blobs(container, prefix=name).blobs]


@pytest.mark.parametrize(
    "name", ["../outside", "/etc/passwd", "a/../../../b", "..", "a/./b", "a//b", "a\\..\\b", "\x00", "a/", "a."]
)
def test_no_name_reaches_outside_its_container(blobs: Blobs, container: str, name: str) -> None:
    other = fresh("c")
    blobs.create_container(other)
    blobs.put(container, name, b"mine")
    assert blobs.get(container, name) == b"mine"
    assert [blob.name for blob in blobs.list_blobs(container).blobs] == [name]
    assert blobs.list_blobs(other).blobs == ()


@pytest.mark.parametrize("name", ["", "x" * 1025, "\ud800"])
def test_an_impossible_name_is_refused(blobs: Blobs, container: str, name: str) -> None:
    with pytest.raises(Invalid):
        blobs.put(container, name, b"x")
    with pytest.raises(Invalid):
        blobs.stage_block(container, name, "AAAA", b"x")


def test_the_longest_name_fits(blobs: Blobs, container: str) -> None:
    blobs.put(container, "ü" * 1024, b"x")
    assert blobs.get(container, "ü" * 1024) == b"x"


def test_names_differ_by_case_and_by_form(blobs: Blobs, container: str) -> None:
    alike = ("a", "A", "é", "e\u0301")
    for name in alike:
        blobs.put(container, name, name.encode())
    assert [blobs.get(container, name) for name in alike] == [name.encode() for name in alike]


class Zeros(io.RawIOBase):
    """A stream of so many zero bytes."""

    def __init__(self, size: int) -> None:
        self._left = size

    def read(self, size: int = -1) -> bytes:
        piece = bytes(min(size, self._left))
        self._left -= len(piece)
        return piece


class BrokenOff(io.RawIOBase):
    """A stream that ends in the loss of its connection."""

    def __init__(self, first: bytes) -> None:
        self._first = first

    def read(self, size: int = -1) -> bytes:
        if not self._first:
            raise ConnectionResetError
        piece, self._first = self._first, b""
        return piece
