"""How text becomes terms, and how much each field weighs."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any

from whoosh.analysis import Filter, RegexTokenizer
from whoosh.fields import ID, KEYWORD, NUMERIC, STORED, TEXT, Schema

# Python's \w leaves out combining marks, which would cut words of Hindi, Tamil or Thai to pieces.
_WORD = re.compile(r"(?:\w|[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff\u0e31-\u0e4e\u1dc0-\u1dff])+")
_LATIN_MARKS = re.compile("[\u0300-\u036f]")
_LONGEST_WORD = 100

TITLE, DESCRIPTION, TAG, ACTOR, DIRECTOR, CHANNEL = "title", "description", "tag", "actor", "director", "channel"
TEXT_FIELDS = {TITLE: 5.0, TAG: 3.0, ACTOR: 3.0, DIRECTOR: 3.0, CHANNEL: 2.0, DESCRIPTION: 1.0}
"""A word in the title says most of what a video is; tags and people were named on purpose; descriptions digress."""


class _Fold(Filter):  # type: ignore[misc,unused-ignore]
    """Terms without case and accents; the token keeps its place in the text, for highlighting."""

    def __call__(self, tokens: Iterable[Any]) -> Iterator[Any]:
        for token in tokens:
            token.text = fold(token.text)[:_LONGEST_WORD]
            yield token


def fold(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", _LATIN_MARKS.sub("", decomposed))


def analyzer() -> Any:
    return RegexTokenizer(_WORD) | _Fold()


def schema() -> Any:
    texts = {name: TEXT(analyzer=analyzer(), field_boost=boost) for name, boost in TEXT_FIELDS.items()}
    return Schema(
        video=ID(unique=True, stored=True),
        owner=ID,
        privacy=ID,
        published=NUMERIC(int, bits=64, signed=True, sortable=True),
        document=STORED,
        language=KEYWORD,
        **texts,
    )
