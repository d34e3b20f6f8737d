"""Leases: while one is held, only its holder writes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from shared.blobs import Blobs
from shared.errors import Conflict, Invalid, Lost, NotFound
from tests.contract.backend import Backend
from tests.contract.making import block_id, fresh

Write = Callable[..., object]

WRITES: dict[str, Callable[[Blobs, str, str | None], object]] = {
    "put": lambda blobs, container, lease: blobs.put(container, "a", b"new", lease_id=lease),
    "commit": lambda blobs, container, lease: blobs.commit_block_list(container, "a", [], lease_id=lease),
    "stage": lambda blobs, container, lease: blobs.stage_block(container, "a", block_id(1), b"new", lease_id=lease),
    "metadata": lambda blobs, container, lease: blobs.set_metadata(container, "a", {"k": "v"}, lease_id=lease),
    "delete": lambda blobs, container, lease: blobs.delete(container, "a", lease_id=lease),
}


@pytest.fixture
def lease(blobs: Blobs, container: str) -> str:
    blobs.put(container, "a", b"x")
    return blobs.acquire_lease(container, "a", seconds=15)


@dataclass
class Waited:
    """Leases on the blob "a" of (container, lease), sixteen seconds old: those of fifteen have run out."""

    run_out: Iterator[tuple[str, str]]
    endless: tuple[str, str]


@pytest.fixture(scope="module")
def waited(backend: Backend) -> Waited:
    """Waited for once, for all tests together: not every store's clock can be moved."""
    found = Waited(run_out=iter([_leased(backend, 15) for _ in range(4)]), endless=_leased(backend, -1))
    backend.wait(16)
    return found


def _leased(backend: Backend, seconds: int) -> tuple[str, str]:
    container = fresh("c")
    backend.blobs.create_container(container)
    backend.blobs.put(container, "a", b"x")
    return container, backend.blobs.acquire_lease(container, "a", seconds=seconds)


@pytest.mark.parametrize("write", WRITES)
def test_only_the_holder_writes(blobs: Blobs, container: str, lease: str, write: str) -> None:
    for refused in (None, "11111111-2222-3333-4444-555555555555"):
        with pytest.raises(Conflict):
            WRITES[write](blobs, container, refused)
    assert blobs.get(container, "a") == b"x"
    WRITES[write](blobs, container, lease)


def test_everybody_reads(blobs: Blobs, container: str, lease: str) -> None:
    assert blobs.get(container, "a") == b"x"
    assert blobs.get_block_list(container, "a").committed == ()


def test_only_one_holds_it(blobs: Blobs, container: str, lease: str) -> None:
    with pytest.raises(Conflict):
        blobs.acquire_lease(container, "a", seconds=15)


def test_acquiring_with_the_id_that_holds_it_renews_it(
    backend: Backend, blobs: Blobs, container: str, lease: str
) -> None:
    backend.wait(10)
    assert blobs.acquire_lease(container, "a", seconds=15, lease_id=lease) == lease
    backend.wait(10)
    with pytest.raises(Conflict):
        blobs.put(container, "a", b"y")


def test_it_lasts_as_long_as_asked(backend: Backend, blobs: Blobs, container: str, lease: str) -> None:
    backend.wait(14)
    with pytest.raises(Conflict):
        blobs.put(container, "a", b"y")
    backend.wait(1.5)
    blobs.put(container, "a", b"y")


def test_renewing_starts_its_time_again(backend: Backend, blobs: Blobs, container: str, lease: str) -> None:
    backend.wait(10)
    blobs.renew_lease(container, "a", lease)
    backend.wait(10)
    with pytest.raises(Conflict):
        blobs.acquire_lease(container, "a", seconds=15)


def test_one_that_ran_out_can_be_renewed_while_nobody_took_it(blobs: Blobs, waited: Waited) -> None:
    container, lease = next(waited.run_out)
    blobs.renew_lease(container, "a", lease)
    with pytest.raises(Conflict):
        blobs.put(container, "a", b"y")


def test_it_is_lost_when_another_took_it(blobs: Blobs, waited: Waited) -> None:
    container, lease = next(waited.run_out)
    blobs.acquire_lease(container, "a", seconds=15)
    with pytest.raises(Lost):
        blobs.renew_lease(container, "a", lease)
    with pytest.raises(Lost):
        blobs.release_lease(container, "a", lease)
    with pytest.raises(Conflict):
        blobs.put(container, "a", b"y", lease_id=lease)


def test_it_is_lost_when_the_blob_was_written_after_its_end(blobs: Blobs, waited: Waited) -> None:
    container, lease = next(waited.run_out)
    blobs.put(container, "a", b"y")
    with pytest.raises(Lost):
        blobs.renew_lease(container, "a", lease)


def test_a_write_with_a_lease_that_ran_out_is_refused(blobs: Blobs, waited: Waited) -> None:
    container, lease = next(waited.run_out)
    with pytest.raises(Conflict):
        blobs.put(container, "a", b"y", lease_id=lease)


def test_a_write_with_a_lease_nobody_holds_is_refused(blobs: Blobs, container: str) -> None:
    blobs.put(container, "b", b"x")
    with pytest.raises(Conflict):
        blobs.put(container, "b", b"y", lease_id="11111111-2222-3333-4444-555555555555")


def test_releasing_frees_it_at_once(blobs: Blobs, container: str, lease: str) -> None:
    blobs.release_lease(container, "a", lease)
    blobs.put(container, "a", b"y")
    with pytest.raises(Lost):
        blobs.renew_lease(container, "a", lease)


def test_an_endless_one_stays(backend: Backend, blobs: Blobs, waited: Waited) -> None:
    container, lease = waited.endless
    if backend.waits_for_days:
        backend.wait(61)
    with pytest.raises(Conflict):
        blobs.put(container, "a", b"y")
    blobs.release_lease(container, "a", lease)


def test_breaking_ends_anyones(blobs: Blobs, container: str, lease: str) -> None:
    blobs.break_lease(container, "a")
    blobs.put(container, "a", b"y")
    with pytest.raises(Lost):
        blobs.renew_lease(container, "a", lease)


def test_a_new_holder_may_choose_its_id(blobs: Blobs, container: str) -> None:
    blobs.put(container, "b", b"x")
    chosen = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
    assert blobs.acquire_lease(container, "b", seconds=15, lease_id=chosen) == chosen
    blobs.put(container, "b", b"y", lease_id=chosen)


def test_it_survives_an_overwrite(blobs: Blobs, container: str, lease: str) -> None:
    blobs.put(container, "a", b"y", lease_id=lease)
    with pytest.raises(Conflict):
        blobs.put(container, "a", b"z")


def test_it_ends_with_its_blob(blobs: Blobs, container: str, lease: str) -> None:
    blobs.delete(container, "a", lease_id=lease)
    with pytest.raises(NotFound):
        blobs.renew_lease(container, "a", lease)
    blobs.put(container, "a", b"another")
    blobs.acquire_lease(container, "a", seconds=15)


@pytest.mark.parametrize("seconds", [0, 14, 61, -2])
def test_an_impossible_time_is_refused(blobs: Blobs, container: str, seconds: int) -> None:
    blobs.put(container, "b", b"x")
    with pytest.raises(Invalid):
        blobs.acquire_lease(container, "b", seconds=seconds)
