"""Who finds what."""

import pytest

from tests.search.shelf import START, Shelf, a_document


@pytest.fixture
def mixed(shelf: Shelf) -> Shelf:
    shelf.put(
        *(
            a_document(f"{owner} {privacy}", title="Walrus", owner=owner, privacy=privacy, tags=(privacy,), published=START)
            for owner in ("anna", "ben")
            for privacy in ("public", "unlisted", "private")
        )
    )
    return shelf


def test_strangers_find_public_videos_only(mixed: Shelf) -> None:
    for viewer in (None, "nobody", ""):
        assert set(mixed.found("walrus", viewer=viewer)) == {"anna public", "ben public"}
        assert mixed.ask("walrus", viewer=viewer).total == 2


def test_owners_find_their_own_whatever_its_privacy(mixed: Shelf) -> None:
    assert set(mixed.found("walrus", viewer="anna")) == {
        "anna public", "anna unlisted", "anna private", "ben public",
    }  # fmt: skip
    assert mixed.ask("walrus", viewer="anna", limit=1).total == 4


def test_pages_and_totals_count_only_what_may_be_found(mixed: Shelf) -> None:
    assert len(mixed.found("walrus", limit=1, page=2)) == 1
    assert mixed.found("walrus", limit=1, page=3) == []
    assert mixed.ask("walrus", limit=1).total == 2


def test_lists_show_public_videos_only(mixed: Shelf) -> None:
    assert {hit.video for hit in mixed.finder.newest().hits} == {"anna public", "ben public"}
    assert {hit.video for hit in mixed.finder.related("anna private").hits} == {"anna public", "ben public"}
    assert mixed.finder.common_tags(5) == ["public"]


def test_nothing_is_found_where_nothing_is_public(shelf: Shelf) -> None:
    shelf.put(a_document(title="Walrus", privacy="private", owner="anna"))
    assert shelf.found("walrus") == []
    assert shelf.found("walr") == []
    assert shelf.ask("wlarus").total == 0
    assert shelf.finder.newest().total == 0
    assert shelf.found("walrus", viewer="anna") == ["one"]


def test_a_video_made_private_is_no_longer_found(shelf: Shelf) -> None:
    shelf.put(a_document(title="Walrus"))
    shelf.put(a_document(title="Walrus", privacy="private", revision=2))
    assert shelf.found("walrus") == []


def test_a_viewer_cannot_be_named_so_as_to_see_more(mixed: Shelf) -> None:
    for viewer in ("public", "private", "anna OR ben", "*", "anna\x00", "Anna"):
        assert set(mixed.found("walrus", viewer=viewer)) == {"anna public", "ben public"}
