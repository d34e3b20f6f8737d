"""What is shown of a hit is safe to put into a page, and marks what was asked for."""

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.search import marking
from tests.search.shelf import Shelf, a_document

ATTACK = '<script>alert("1")</script><img src=x onerror=\'alert(2)\'>&amp;'


def test_what_matched_is_marked_in_title_and_snippet(shelf: Shelf) -> None:
    shelf.put(a_document(title="The Walrus", description="A walrus, and Wálrus again."))
    [hit] = shelf.ask("walrus").hits
    assert hit.title_html == "The <mark>Walrus</mark>"
    assert hit.snippet_html == "A <mark>walrus</mark>, and <mark>Wálrus</mark> again."


@pytest.mark.parametrize("field", ["title", "description", "channel"])
def test_html_in_a_text_is_shown_not_obeyed(shelf: Shelf, field: str) -> None:
    shelf.put(a_document(**{field: f"{ATTACK} walrus"}))
    [hit] = shelf.ask("walrus").hits
    assert "<mark>walrus</mark>" in hit.title_html + hit.snippet_html
    for html in (hit.title_html, hit.snippet_html):
        assert set(re.findall(r"<[^>]*>", html)) <= {"<mark>", "</mark>"}


def test_html_in_names_is_shown_not_obeyed(shelf: Shelf) -> None:
    shelf.put(a_document(actors=(f"{ATTACK} Walrus",), tags=("<b>sea</b>",)))
    [hit] = shelf.ask("walrus").hits
    assert set(re.findall(r"<[^>]*>", hit.snippet_html)) == {"<mark>", "</mark>"}


def test_a_hit_on_html_itself_stays_escaped(shelf: Shelf) -> None:
    shelf.put(a_document(title=ATTACK))
    [hit] = shelf.ask("script").hits
    assert hit.title_html.startswith("&lt;<mark>script</mark>&gt;alert(&quot;1&quot;)")


@given(
    title=st.text(st.sampled_from("<>&\"' /ab-'éß東京mark"), max_size=60),
    description=st.text(st.sampled_from("<>&\"' /ab-'éß東京mark"), max_size=400),
    marks=st.sets(st.sampled_from(["a", "b", "ab", "mark", "e", "東京", "ss", "amp", "lt"])),
)
def test_without_its_marks_a_marked_text_is_the_text(title: str, description: str, marks: set[str]) -> None:
    document = a_document(title=title, description=description)
    html = marking.title(document, frozenset(marks))
    assert unescape(html.replace("<mark>", "").replace("</mark>", "")) == title
    plain = re.sub("</?mark>", "", marking.snippet(document, frozenset(marks)))
    assert "<" not in plain
    assert html.count("<mark>") == html.count("</mark>")


def test_a_snippet_is_the_stretch_where_most_matches(shelf: Shelf) -> None:
    shelf.put(a_document(description="sea " + "and nothing else here " * 40 + "the walrus and the sea meet " + "at last " * 60))
    [hit] = shelf.ask("walrus sea").hits
    assert "<mark>walrus</mark> and the <mark>sea</mark>" in hit.snippet_html
    assert hit.snippet_html.startswith("…")
    assert hit.snippet_html.endswith("…")
    assert len(re.sub("<[^>]*>", "", hit.snippet_html)) < 220


def test_a_match_in_a_name_shows_the_names(shelf: Shelf) -> None:
    shelf.put(a_document(description="A film.", actors=("Wanda Walrus",)))
    [hit] = shelf.ask("walrus").hits
    assert "Wanda <mark>Walrus</mark>" in hit.snippet_html


def test_what_other_forms_found_is_marked_too(shelf: Shelf) -> None:
    shelf.put(a_document(title="Spider-Man", description="Two walruses."))
    assert shelf.ask("spiderman").hits[0].title_html == "<mark>Spider</mark>-<mark>Man</mark>"
    assert "<mark>walruses</mark>" in shelf.ask("walrus").hits[0].snippet_html


def test_an_unfinished_and_a_corrected_word_mark_what_they_found(shelf: Shelf) -> None:
    shelf.put(a_document(title="The Walrus"))
    assert shelf.ask("walr").hits[0].title_html == "The <mark>Walrus</mark>"
    assert shelf.ask("wlarus").hits[0].title_html == "The <mark>Walrus</mark>"


def test_pairs_of_characters_that_overlap_are_marked_once(shelf: Shelf) -> None:
    shelf.put(a_document(title="東京都の猫"))
    assert shelf.ask("東京都").hits[0].title_html == "<mark>東京都</mark>の猫"
