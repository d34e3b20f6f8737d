"""What is found, and in which order."""

import random
from typing import Any

import pytest

from tests.search.shelf import Shelf, a_document, several

FIELDS: list[tuple[str, dict[str, Any]]] = [
    ("title", {"title": "A walrus"}),
    ("description", {"description": "There is a walrus in it."}),
    ("tag", {"tags": ("sea", "walrus")}),
    ("actor", {"actors": ("Wanda Walrus",)}),
    ("director", {"directors": ("Wanda Walrus",)}),
    ("channel", {"channel": "walrus"}),
]


@pytest.mark.parametrize("fields", [fields for _, fields in FIELDS], ids=[name for name, _ in FIELDS])
def test_a_word_is_found_wherever_it_stands(shelf: Shelf, fields: dict[str, Any]) -> None:
    shelf.put(a_document("here", **fields), a_document("elsewhere", title="A seal"))
    assert shelf.found("walrus") == ["here"]
    assert shelf.ask("walrus").total == 1


def test_a_title_counts_more_than_names_and_those_more_than_a_description(shelf: Shelf) -> None:
    shelf.put(
        a_document("described", title="A film", description="About a walrus and the sea and nothing else."),
        a_document("tagged", title="A film", tags=("walrus",)),
        a_document("titled", title="A walrus"),
    )
    assert shelf.found("walrus") == ["titled", "tagged", "described"]


def test_repeating_a_word_in_a_description_gains_little(shelf: Shelf) -> None:
    shelf.put(
        a_document("honest", title="The walrus and the carpenter", description="A poem."),
        a_document("stuffed", title="Buy now", description="walrus " * 60),
    )
    assert shelf.found("walrus") == ["honest", "stuffed"]


def test_a_word_says_less_in_a_title_stuffed_with_words(shelf: Shelf) -> None:
    shelf.put(a_document("stuffed", title="walrus " + "seal otter whale fish crab " * 6), a_document("plain", title="Walrus"))
    assert shelf.found("walrus") == ["plain", "stuffed"]


def test_a_rare_word_counts_more_than_a_common_one(shelf: Shelf) -> None:
    shelf.put(*several(20, title="A film of the sea"), a_document("rare", title="A film of the walrus"))
    common, rare = shelf.ask("sea").hits[0].score, shelf.ask("walrus").hits[0].score
    assert rare > common


def test_every_word_must_be_there_but_in_any_part(shelf: Shelf) -> None:
    shelf.put(
        a_document("both", title="Walrus", actors=("Keanu Reeves",)),
        a_document("one", title="Walrus"),
    )
    assert shelf.found("keanu walrus") == ["both"]


def test_where_nothing_has_every_word_some_will_do(shelf: Shelf) -> None:
    shelf.put(a_document("walrus", title="A walrus"), a_document("seal", title="A seal"))
    assert shelf.found("walrus carpenter oyster") == ["walrus"]


def test_an_inflected_word_finds_its_other_forms_and_its_own_form_first(shelf: Shelf) -> None:
    shelf.put(a_document("plural", title="Two walruses"), a_document("single", title="One walrus"))
    assert shelf.found("walruses") == ["plural", "single"]
    assert shelf.found("walrus") == ["single", "plural"]


def test_pages_follow_each_other_without_gap_or_repeat(shelf: Shelf) -> None:
    shelf.put(*several(25))
    pages = [shelf.found("film", page=page, limit=10) for page in (1, 2, 3, 4)]
    assert list(map(len, pages)) == [10, 10, 5, 0]
    assert len({video for page in pages for video in page}) == 25
    assert shelf.ask("film", page=2, limit=10).total == 25


def test_the_newest_are_listed_by_when_they_were_published(shelf: Shelf) -> None:
    shelf.put(*several(5))
    assert [hit.video for hit in shelf.finder.newest(limit=2).hits] == ["v4", "v3"]
    assert [hit.video for hit in shelf.finder.newest(limit=2, page=3).hits] == ["v0"]
    assert shelf.finder.newest(limit=2).total == 5


def test_related_videos_share_people_tags_or_words_of_the_title(shelf: Shelf) -> None:
    shelf.put(
        a_document("here", title="Matrix", actors=("Keanu Reeves",), tags=("science fiction",)),
        a_document("same people", title="Speed", actors=("Keanu Reeves",)),
        a_document("same tag", title="Tron", tags=("Science Fiction",)),
        a_document("same first name", title="Waves", actors=("Keanu Smith",)),
    )
    assert [hit.video for hit in shelf.finder.related("here").hits] == ["same people", "same tag"]
    assert shelf.finder.related("nowhere").hits == ()


def test_common_tags_are_counted_over_public_videos_without_regard_to_case(shelf: Shelf) -> None:
    shelf.put(
        a_document("a", tags=("Sea", "ice")), a_document("b", tags=("sea",)),
        a_document("c", tags=("secret",), privacy="private"),
    )  # fmt: skip
    tags = shelf.finder.common_tags(5)
    assert tags[0].casefold() == "sea"
    assert sorted(tag.casefold() for tag in tags) == ["ice", "sea"]


def test_the_index_finds_what_a_plain_scan_finds(shelf: Shelf) -> None:
    """Over several segments, replacements and deletions."""
    chance = random.Random(7)
    vocabulary = [f"{a}{b}" for a in "bdfgk" for b in ("ax", "ex", "ix", "ox", "ux")]
    titles: dict[str, str] = {}
    for _ in range(12):
        batch = {f"v{chance.randrange(120)}": " ".join(chance.choices(vocabulary, k=4)) for _ in range(16)}
        gone = [video for video in chance.sample(range(120), 4) if f"v{video}" not in batch]
        shelf.writer.apply([a_document(v, title=t) for v, t in batch.items()], [f"v{video}" for video in gone])
        titles.update(batch)
        for video in gone:
            titles.pop(f"v{video}", None)
    shelf.finder.refresh()
    for _ in range(60):
        one, other = chance.sample(vocabulary, 2)
        both = {v for v, t in titles.items() if {one, other} <= set(t.split())}
        if both:
            assert set(shelf.found(f"{one} {other}", limit=200)) == both
            assert shelf.ask(f"{one} {other}", limit=1).total == len(both)
        only = {v for v, t in titles.items() if one in t.split() and other not in t.split()}
        assert set(shelf.found(f"{one} -{other}", limit=200)) == only
        side_by_side = {v for v, t in titles.items() if f" {one} {other} " in f" {t} "}
        assert set(shelf.found(f'"{one} {other}"', limit=200)) == side_by_side
