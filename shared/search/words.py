"""How text is cut into words, and words folded, so that what is typed meets what was written."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import groupby, pairwise
from typing import NamedTuple

from whoosh.lang.porter import stem as porter

# Scripts without spaces between words: Thai, Lao, Burmese, Khmer, kana and Han. Pairs of characters stand for words.
_UNSPACED = (
    "\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e80-\u0eb0\u0eb2\u0eb3\u0ebd-\u0ec6\u0edc-\u0edf"
    "\u1000-\u103f\u1050-\u109f\u1780-\u17b3\u3005-\u3007\u3041-\u3096\u309d-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003134f"
)
_INVISIBLE = "\u00ad\u200c\u200d"
# What these scripts are mostly written without: accents, points and vowel signs. Elsewhere marks are letters.
_LEFT_OUT = re.compile(f"[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed{_INVISIBLE}]")
_PLAIN = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"})
_JOINTS = "'’ʼ.-‐‑&"
_PLAIN_WORD = re.compile(r"[a-z0-9]+")
_JOINED = re.compile(rf"[^\W_][{re.escape(_JOINTS)}][^\W_]")
_MOST_JOINED = 8
_LONGEST = 64
_SHORTEST_INFLECTED = 4


class Word(NamedTuple):
    """One word of a text: its folded form, and the characters [start, end) it stands at.

    `also` are other ways to write what stands there: "walle" for both words of "WALL·E", each character of a pair.
    """

    text: str
    start: int
    end: int
    also: tuple[str, ...] = ()


def words(text: str) -> list[Word]:
    """In order; the place of a word in the list is its position for phrases."""
    if text.isascii():
        return _plain_words(text)
    found: list[Word] = []
    pattern = _pattern()
    for unspaced, matches in groupby(pattern.finditer(text), key=lambda match: match["run"] is not None):
        if unspaced:
            found += (word for match in matches for word in _pairs(match["run"], match.start()))
        else:
            found += _with_compounds([_word(match) for match in matches], text)
    return found


def fold(text: str) -> str:
    """Without case, accents and ways of writing the same letter: "Łódź" is "lodz", "ﬁlm" is "film"."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", _LEFT_OUT.sub("", decomposed).translate(_PLAIN))


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """What an English word shares with its inflections; other words as they are."""
    if len(word) < _SHORTEST_INFLECTED or not word.isascii() or not word.isalpha():
        return word
    return str(porter(word))


def _plain_words(text: str) -> list[Word]:
    """Most text there is, by the shortest way."""
    found = [Word(match[0][:_LONGEST], *match.span()) for match in _PLAIN_WORD.finditer(text.lower())]
    return _with_compounds(found, text) if _JOINED.search(text) else found


@cache
def _pattern() -> re.Pattern[str]:
    """Python's own idea of a word ends at every combining mark, which would cut Hindi or Tamil to pieces."""
    marks = _class_of_marks()
    letter = rf"[^\W_{_UNSPACED}][{marks}{_INVISIBLE}]*"
    return re.compile(rf"(?P<run>(?:(?=[{_UNSPACED}])[^\W_][{marks}]*)+)|(?:{letter})+")


def _class_of_marks() -> str:
    """The inside of a regular expression's class: every combining mark of the scripts in use."""
    marks = [code for code in range(0x300, 0x20000) if unicodedata.category(chr(code))[0] == "M"]
    ranges = []
    for _, numbered in groupby(enumerate(marks), key=lambda pair: pair[1] - pair[0]):
        codes = [code for _, code in numbered]
        ranges.append(f"{chr(codes[0])}-{chr(codes[-1])}")
    return "".join(ranges)


def _word(match: re.Match[str]) -> Word:
    return Word(fold(match[0])[:_LONGEST], match.start(), match.end())


def _pairs(run: str, start: int) -> Iterator[Word]:
    """Each two neighbours, so that any part of a sentence is found as a phrase of pairs."""
    characters = [
        Word(fold(match[0]), start + match.start(), start + match.end())
        for match in re.finditer(f"(?=[{_UNSPACED}]).[^{_UNSPACED}]*", run)
    ]
    if len(characters) == 1:
        yield characters[0]
    for one, next_one in pairwise(characters):
        yield Word(one.text + next_one.text, one.start, next_one.end, also=(one.text, next_one.text))


def _with_compounds(found: Sequence[Word], text: str) -> list[Word]:
    """Words that only a joint holds apart are also known as one: "spider-man" and "spiderman", "don't" and "dont"."""
    joined: list[Word] = []
    for compound in _compounds(found, text):
        whole = "".join(word.text for word in compound)
        known = 1 < len(compound) <= _MOST_JOINED and len(whole) <= _LONGEST
        joined += (word._replace(also=(whole,)) for word in compound) if known else compound
    return joined


def _compounds(found: Sequence[Word], text: str) -> Iterator[list[Word]]:
    compound: list[Word] = []
    for word in found:
        if compound and not (word.start - compound[-1].end == 1 and text[compound[-1].end] in _JOINTS):
            yield compound
            compound = []
        compound.append(word)
    if compound:
        yield compound
