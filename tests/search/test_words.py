"""Words of every script meet what people type."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.search.words import fold, words
from tests.search.shelf import Shelf, a_document


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("Café Zoë", "cafe zoe"),
        ("Cafe\u0301 Zoe\u0308", "café zoë"),
        ("Łódź", "lodz"),
        ("København", "kobenhavn"),
        ("Straße", "strasse"),
        ("İstanbul ışık", "istanbul isik"),
        ("Việt Nam", "viet nam"),
        ("Œuvre", "oeuvre"),
        ("ﬁlm ＡＢＣ", "film abc"),
        ("Кинофильм Ёлка", "елка"),
        ("ΟΔΥΣΣΕΥΣ", "οδυσσευς"),
        ("नमस्ते दुनिया है।", "दुनिया"),
        ("नमस्ते दुनिया है।", "है"),
        ("தமிழ் திரைப்படம்", "தமிழ்"),
        ("తెలుగు సినిమా", "సినిమా"),
        ("مُحَمَّد", "محمد"),
        ("أحمد", "احمد"),
        ("שָׁלוֹם", "שלום"),
        ("می\u200cخواهم", "میخواهم"),
        ("한국어 영화", "영화"),
        ("東京都の猫", "京都"),
        ("東京都の猫", "猫"),
        ("東京都の猫", "東京都"),
        ("ｶﾀｶﾅ", "カタカナ"),
        ("ภาษาไทยง่าย", "ไทย"),
        ("Don't look", "dont"),
        ("Don’t look", "don't"),
        ("Spider-Man", "spiderman"),
        ("Spiderman", "spider-man"),
        ("WALL·E and R.E.M.", "rem"),
        ("my_holiday_video.mp4", "holiday"),
        ("2001: A Space Odyssey", "2001"),
        ("S01E02", "s01e02"),
    ],
)
def test_what_is_typed_meets_what_was_written(shelf: Shelf, written: str, typed: str) -> None:
    shelf.put(a_document("here", title=written), a_document("elsewhere", title="Something else"))
    assert shelf.found(typed) == ["here"]


@pytest.mark.parametrize("written", ["नमस्ते", "தமிழ்", "తెలుగు", "ಕನ್ನಡ", "മലയാളം", "বাংলা", "ગુજરાતી"])
def test_a_word_with_vowel_signs_is_one_word(written: str) -> None:
    assert [word.text for word in words(written)] == [fold(written)]


def test_characters_side_by_side_in_another_order_are_another_word(shelf: Shelf) -> None:
    shelf.put(a_document("here", title="東京都の猫"))
    assert shelf.found("都京") == []


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=80))
def test_words_stand_where_they_say_and_are_findable_again(text: str) -> None:
    for word in words(text):
        assert 0 <= word.start < word.end <= len(text)
        assert word.text == unicodedata.normalize("NFC", word.text)


@given(st.text(st.characters(categories=["Ll", "Lu"], exclude_characters="\u0345"), min_size=1, max_size=20))
def test_folding_again_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)
