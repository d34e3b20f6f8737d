"""Containers: made, listed, described, and gone for every reader the moment they are deleted."""

import pytest

from shared.blobs import MAX_METADATA_BYTES, Blobs
from shared.errors import Conflict, Invalid, NotFound
from tests.contract.backend import Backend
from tests.contract.making import block_id, fresh


def test_a_container_says_what_it_is(blobs: Blobs) -> None:
    name = fresh("c")
    blobs.create_container(name, access="public", metadata={"by": "me"})
    made = blobs.get_container(name)
    assert (made.name, made.access, made.metadata) == (name, "public", {"by": "me"})
    assert made.etag
    assert made.last_modified.utcoffset() is not None


def test_containers_are_private_unless_told_otherwise(blobs: Blobs, container: str) -> None:
    assert blobs.get_container(container).access == "private"


def test_creating_one_that_exists_is_a_conflict(blobs: Blobs, container: str) -> None:
    with pytest.raises(Conflict):
        blobs.create_container(container)


def test_ensuring_one_that_exists_changes_nothing(blobs: Blobs, container: str) -> None:
    blobs.put(container, "a", b"x")
    before = blobs.get_container(container)
    blobs.ensure_container(container, access="public")
    assert blobs.get_container(container) == before
    assert blobs.get(container, "a") == b"x"


def test_ensuring_one_that_is_missing_creates_it(blobs: Blobs) -> None:
    name = fresh("c")
    blobs.ensure_container(name, access="public")
    assert blobs.get_container(name).access == "public"


def test_access_and_metadata_can_be_changed(blobs: Blobs, container: str) -> None:
    before = blobs.get_container(container)
    blobs.set_container_access(container, "public")
    blobs.set_container_metadata(container, {"one": "1"})
    blobs.set_container_metadata(container, {"two": "2"})
    after = blobs.get_container(container)
    assert (after.access, after.metadata) == ("public", {"two": "2"})
    assert after.etag != before.etag


def test_container_metadata_is_at_most_8_kib(blobs: Blobs, container: str) -> None:
    with pytest.raises(Invalid):
        blobs.set_container_metadata(container, {"k": "v" * MAX_METADATA_BYTES})
    assert blobs.get_container(container).metadata == {}


def test_containers_are_listed_by_prefix_in_order(blobs: Blobs) -> None:
    stem = fresh("list")
    for end in ("b", "a", "c"):
        blobs.create_container(f"{stem}-{end}")
    assert [one.name for one in blobs.list_containers(prefix=stem)] == [f"{stem}-{end}" for end in "abc"]
    assert {f"{stem}-a"} <= {one.name for one in blobs.list_containers()}


def test_a_deleted_container_is_gone_at_once_with_all_its_blobs(blobs: Blobs, container: str) -> None:
    blobs.put(container, "a", b"x")
    blobs.stage_block(container, "b", block_id(1), b"y")
    blobs.delete_container(container)
    for act in (blobs.get_container, blobs.list_blobs, blobs.delete_container):
        with pytest.raises(NotFound):
            act(container)
    for act in (blobs.get, blobs.stat, blobs.get_block_list):
        with pytest.raises(NotFound):
            act(container, "a")
    assert container not in [one.name for one in blobs.list_containers()]


def test_its_name_is_taken_while_it_is_being_deleted(backend: Backend, blobs: Blobs, container: str) -> None:
    blobs.put(container, "a", b"x")
    blobs.delete_container(container)
    if not backend.frees_container_names_at_once:
        for make in (blobs.create_container, blobs.ensure_container):
            with pytest.raises(Conflict):
                make(container)
        backend.wait(31)
    blobs.create_container(container)
    assert blobs.list_blobs(container).blobs == ()
    with pytest.raises(NotFound):
        blobs.get(container, "a")


def test_changing_a_missing_container_is_not_found(blobs: Blobs) -> None:
    for act in (
        lambda: blobs.set_container_access(fresh("c"), "public"),
        lambda: blobs.set_container_metadata(fresh("c"), {}),
        lambda: blobs.list_uncommitted(fresh("c")),
        lambda: blobs.discard_uncommitted(fresh("c"), "a"),
    ):
        with pytest.raises(NotFound):
            act()


@pytest.mark.parametrize(
    "name", ["ab", "x" * 64, "Upper", "two--hyphens", "-first", "last-", "a_b", "a/b", "..", "ä-b-c"]
)
def test_an_impossible_container_name_is_refused(blobs: Blobs, name: str) -> None:
    for act in (blobs.create_container, blobs.ensure_container):
        with pytest.raises(Invalid):
            act(name)


def test_an_unknown_access_is_refused(blobs: Blobs, container: str) -> None:
    with pytest.raises(Invalid):
        blobs.set_container_access(container, "everybody")  # type: ignore[arg-type]
