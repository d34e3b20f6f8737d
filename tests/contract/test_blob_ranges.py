"""Ranged reads: bytes [start, end) of one version, in pieces of at most 1 MiB."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.blobs import Blobs
from shared.errors import Conflict, Invalid, NotFound
from tests.contract.making import a_blob_of_blocks, fresh

MIB = 1024 * 1024


@given(parts=st.lists(st.binary(min_size=1, max_size=20), min_size=1, max_size=6), data=st.data())
def test_any_range_is_what_slicing_gives(blobs: Blobs, container: str, parts: list[bytes], data: st.DataObject) -> None:
    name, content = fresh("b"), b"".join(parts)
    a_blob_of_blocks(blobs, container, name, *parts)
    start = data.draw(st.integers(0, len(content) - 1))
    end = data.draw(st.none() | st.integers(start, len(content) + 10))
    assert b"".join(blobs.read(container, name, start=start, end=end)) == content[start:end]


def test_pieces_are_at_most_a_mebibyte(blobs: Blobs, container: str) -> None:
    blobs.put(container, "a", bytes(3 * MIB + 5))
    sizes = [len(piece) for piece in blobs.read(container, "a", start=3)]
    assert sum(sizes) == 3 * MIB + 2
    assert max(sizes) <= MIB


@pytest.mark.parametrize("start", [5, 6, -1])
def test_a_start_outside_the_blob_is_refused_by_the_call_itself(blobs: Blobs, container: str, start: int) -> None:
    blobs.put(container, "a", b"12345")
    with pytest.raises(Invalid):
        blobs.read(container, "a", start=start)


def test_an_empty_blob_has_no_byte_but_can_be_read_from_the_start(blobs: Blobs, container: str) -> None:
    blobs.put(container, "a", b"")
    assert list(blobs.read(container, "a")) == []
    with pytest.raises(Invalid):
        blobs.read(container, "a", start=1)


def test_failures_are_raised_by_the_call_itself(blobs: Blobs, container: str) -> None:
    blobs.put(container, "a", b"x")
    with pytest.raises(NotFound):
        blobs.read(container, "b")
    with pytest.raises(Conflict):
        blobs.read(container, "a", if_match='"another"')


def test_a_reader_stays_with_its_version_while_the_blob_is_overwritten(blobs: Blobs, container: str) -> None:
    old, new = b"o" * (2 * MIB), b"n" * (2 * MIB)
    blobs.put(container, "a", old)
    reading = blobs.read(container, "a")
    first = next(reading)
    blobs.put(container, "a", new)
    assert_one_version(first, reading, old)
    assert blobs.get(container, "a") == new


def test_a_reader_stays_with_its_version_while_the_blob_is_deleted(blobs: Blobs, container: str) -> None:
    old = b"o" * (2 * MIB)
    blobs.put(container, "a", old)
    reading = blobs.read(container, "a")
    first = next(reading)
    blobs.delete(container, "a")
    assert_one_version(first, reading, old)


def test_a_range_holds_the_version_asked_for(blobs: Blobs, container: str) -> None:
    etag = blobs.put(container, "a", b"first").etag
    assert b"".join(blobs.read(container, "a", start=1, end=3, if_match=etag)) == b"ir"
    blobs.put(container, "a", b"second")
    with pytest.raises(Conflict):
        blobs.read(container, "a", start=1, if_match=etag)


def assert_one_version(first: bytes, reading: object, content: bytes) -> None:
    """The rest belongs to the same version, or the reader is told."""
    try:
        rest = b"".join(reading)  # type: ignore[arg-type]
    except Conflict:
        return
    assert first + rest == content
