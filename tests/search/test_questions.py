"""What people type, understood, and what nobody should type, survived."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.search.questions import parse
from tests.search.shelf import Shelf, a_document


@pytest.fixture
def films(shelf: Shelf) -> Shelf:
    shelf.put(
        a_document("matrix", title="The Matrix", actors=("Keanu Reeves", "Carrie-Anne Moss"), directors=("Lana Wachowski",),
                   tags=("science fiction",), description="A hacker learns the truth."),
        a_document("speed", title="Speed", actors=("Keanu Reeves", "Sandra Bullock"), directors=("Jan de Bont",)),
        a_document("keanu", title="A life of Keanu", channel="matrixfan", description="He made Speed and more."),
    )  # fmt: skip
    return shelf


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("actor:keanu", {"matrix", "speed"}),
        ("ACTOR:Keanu", {"matrix", "speed"}),
        ("actor: keanu", {"matrix", "speed"}),
        ('actor:"keanu reeves"', {"matrix", "speed"}),
        ('actor:"reeves carrie"', set()),
        ("cast:bullock", {"speed"}),
        ("director:wachowski", {"matrix"}),
        ("tag:fiction", {"matrix"}),
        ('tag:"science fiction"', {"matrix"}),
        ("channel:matrixfan", {"keanu"}),
        ("title:keanu", {"keanu"}),
        ("keanu -speed", {"matrix"}),
        ("keanu -actor:keanu", {"keanu"}),
        ('keanu -"sandra bullock"', {"matrix", "keanu"}),
        ('"the matrix"', {"matrix"}),
        ("“the matrix”", {"matrix"}),
        ('"matrix the"', set()),
        ('"the matrix', {"matrix"}),
        ("carrieanne", {"matrix"}),
        ("carrie-anne", {"matrix"}),
        ("the: matrix", {"matrix"}),
        ("-keanu", set()),
        ("", set()),
        ("   ", set()),
        ("*", set()),
    ],
)
def test_a_question_is_understood(films: Shelf, text: str, found: set[str]) -> None:
    assert set(films.found(text)) == found


def test_an_unknown_field_is_just_text(shelf: Shelf) -> None:
    shelf.put(a_document("link", title="See http://example.org/film"))
    assert shelf.found("http://example.org/film") == ["link"]


def test_the_last_word_may_be_unfinished_in_titles_tags_and_names(films: Shelf) -> None:
    assert films.found("matri") != []
    assert films.found("keanu bullo") == ["speed"]


def test_a_description_is_never_searched_by_the_beginnings_of_words(films: Shelf) -> None:
    assert films.found("hacke") == []


@pytest.mark.parametrize(("typed", "meant"), [("matrxi", "matrix"), ("keannu", "keanu"), ("wachovski", "wachowski")])
def test_a_slip_finds_what_was_meant_and_says_so(films: Shelf, typed: str, meant: str) -> None:
    results = films.ask(typed)
    assert results.total
    assert results.corrected == meant


def test_what_was_found_as_typed_is_not_corrected(films: Shelf) -> None:
    assert films.ask("keanu").corrected is None


def test_descriptions_correct_nothing(films: Shelf) -> None:
    assert films.found("hackre") == []


@pytest.mark.parametrize(
    "text",
    [
        '"', '"""', "-", "--", "-\"", "actor:", "actor:\"", ":", "::", "AND OR NOT", "(((", "a*", "?", "[a TO b]", "~2^5", "\\",
        "\x00", "a\x00b", "\ud800", "😀🎬", "\u202e\u200d\u0301", "a" * 10_000, "a " * 5_000, '"' * 10_000, "-a " * 3_000,
        "title:" * 2_000, "İ" * 3_000, "東" * 5_000, "\u0301" * 5_000, "e\u0301\u0302" * 3_000, "'.-" * 3_000,
    ],
    ids=range(31),
)  # fmt: skip
def test_garbage_is_answered_without_a_failure(films: Shelf, text: str) -> None:
    films.ask(text)
    films.ask(text, viewer=text[:20], page=3)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(exclude_categories=[]), max_size=60))
def test_any_text_at_all_is_a_question(films: Shelf, text: str) -> None:
    films.ask(text)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=st.lists(st.sampled_from(['"', "-", "actor:", "tag:", "keanu", "speed", " ", "matr", "''", "*", "é", "東京"]), max_size=40))
def test_any_mixture_of_signs_is_a_question(films: Shelf, pieces: list[str]) -> None:
    films.ask("".join(pieces))


def test_a_question_has_a_bounded_size_however_long_the_text() -> None:
    question = parse('word "' + "and then " * 5_000)
    assert len(question.asks) <= 32
    assert all(len(ask.words) <= 16 for ask in question.asks)
