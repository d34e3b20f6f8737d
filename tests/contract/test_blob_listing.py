"""Listings: by name in code point order, by prefix, folded at a delimiter, page by page."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shared.blobs import Blobs, every_page
from shared.errors import Invalid
from tests.contract.backend import Backend
from tests.contract.making import fresh

steps = st.text("ab/é\U0001f600~", min_size=1, max_size=6)


def pages(blobs: Blobs, container: str, **asked: object) -> tuple[list[str], list[str]]:
    """Every page to the end: names of blobs, and prefixes."""
    found = list(every_page(blobs, container, **asked))  # type: ignore[arg-type]
    names = [blob.name for page in found for blob in page.blobs]
    return names, [prefix for page in found for prefix in page.prefixes]


def model(names: set[str], prefix: str, delimiter: str | None) -> tuple[list[str], list[str]]:
    matching = sorted(name for name in names if name.startswith(prefix))
    if not delimiter:
        return matching, []
    folded = {name: name.find(delimiter, len(prefix)) for name in matching}
    return (
        [name for name in matching if folded[name] < 0],
        sorted({name[: cut + len(delimiter)] for name, cut in folded.items() if cut >= 0}),
    )


@given(
    names=st.sets(steps, max_size=12),
    prefix=st.text("ab/", max_size=3),
    delimiter=st.sampled_from([None, "/", "a", "//"]),
    limit=st.integers(1, 5),
)
def test_any_listing_matches_a_model(
    backend: Backend, names: set[str], prefix: str, delimiter: str | None, limit: int
) -> None:
    assume(len(delimiter or "/") == 1 or not backend.folds_at_one_character)
    blobs, container = backend.blobs, fresh("c")
    blobs.create_container(container)
    for name in names:
        blobs.put(container, name, b"")
    found = pages(blobs, container, prefix=prefix, delimiter=delimiter, limit=limit)
    assert found == model(names, prefix, delimiter)


def test_an_entry_is_the_blob_as_stat_gives_it(blobs: Blobs, container: str) -> None:
    blobs.put(container, "a", b"x", content_type="text/plain", metadata={"k": "v"})
    assert blobs.list_blobs(container).blobs == (blobs.stat(container, "a"),)


def test_the_limit_counts_blobs_and_prefixes_together(blobs: Blobs, container: str) -> None:
    for name in ("a", "b/1", "b/2", "c", "d/1"):
        blobs.put(container, name, b"")
    page = blobs.list_blobs(container, delimiter="/", limit=2)
    assert len(page.blobs) + len(page.prefixes) <= 2
    assert page.marker is not None


def test_the_last_page_has_no_marker(blobs: Blobs, container: str) -> None:
    blobs.put(container, "a", b"")
    blobs.put(container, "b", b"")
    first = blobs.list_blobs(container, limit=1)
    assert first.marker is not None
    assert blobs.list_blobs(container, limit=1, marker=first.marker).marker is None


def test_a_listing_goes_on_after_its_place_was_deleted(blobs: Blobs, container: str) -> None:
    for name in "abcd":
        blobs.put(container, name, b"")
    first = blobs.list_blobs(container, limit=2)
    for name in "abc":
        blobs.delete(container, name)
    rest = blobs.list_blobs(container, marker=first.marker)
    assert [blob.name for blob in rest.blobs] == ["d"]


@pytest.mark.parametrize("limit", [0, -1, 5001])
def test_an_impossible_limit_is_refused(blobs: Blobs, container: str, limit: int) -> None:
    with pytest.raises(Invalid):
        blobs.list_blobs(container, limit=limit)


def test_many_folders_are_skipped_not_walked(blobs: Blobs, container: str) -> None:
    for folder in range(30):
        for file in range(3):
            blobs.put(container, f"{folder:02}/{file}", b"")
    assert pages(blobs, container, delimiter="/") == ([], [f"{folder:02}/" for folder in range(30)])
    assert pages(blobs, container, delimiter="/", prefix="07/") == ([f"07/{file}" for file in range(3)], [])


def test_folders_are_told_apart_at_the_ends_of_unicode(backend: Backend, blobs: Blobs, container: str) -> None:
    for delimiter in ("\ud7ff",) if backend.folds_at_one_character else ("\ud7ff", "\U0010ffff"):
        for name in (f"a{delimiter}1", f"a{delimiter}2", "a\ue000", "b"):
            blobs.put(container, name, b"")
        names, prefixes = pages(blobs, container, delimiter=delimiter)
        assert prefixes == [f"a{delimiter}"]
        assert {"a\ue000", "b"} <= set(names)
