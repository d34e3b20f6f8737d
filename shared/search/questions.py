"""From what somebody typed to a query: words, "phrases", -without, and field:words; anything else is just text."""

import re
from typing import Any

from whoosh import query

from shared.search.schema import ACTOR, CHANNEL, DESCRIPTION, DIRECTOR, TAG, TEXT_FIELDS, TITLE, analyzer

_MOST_TERMS = 32
_LONGEST = 1000
_ASKED = re.compile(r'(?P<minus>-)?(?:(?P<field>[a-z]+):)?(?:"(?P<phrase>[^"]*)"|(?P<word>[^\s"]+))')
_FIELDS = {
    "title": TITLE, "description": DESCRIPTION, "tag": TAG, "tags": TAG, "actor": ACTOR, "actors": ACTOR,
    "cast": ACTOR, "director": DIRECTOR, "directors": DIRECTOR, "channel": CHANNEL,
}  # fmt: skip
_PREFIX_FIELDS = (TITLE, TAG, ACTOR, DIRECTOR, CHANNEL)
_SHORTEST_PREFIX = 3


def as_query(text: str, *, loosely: bool = False) -> Any:
    """None where nothing is asked for. Every word must be there; `loosely`, any one of them.

    The last word may be the beginning of one (people search while they type), but never in descriptions, where that
    would match nearly everything.
    """
    wanted: list[Any] = []
    unwanted: list[Any] = []
    asked = list(_ASKED.finditer(text[:_LONGEST]))[:_MOST_TERMS]
    for place, match in enumerate(asked):
        is_last = place == len(asked) - 1 and match["phrase"] is None and match.end() == len(text.rstrip())
        part = _part(match, is_last=is_last)
        if part is not None:
            (unwanted if match["minus"] else wanted).append(part)
    if not wanted:
        return None
    found = query.Or(wanted) if loosely else query.And(wanted)
    return query.AndNot(found, query.Or(unwanted)) if unwanted else found


def words_of(text: str) -> list[str]:
    """The terms of a text, as the index has them."""
    return [token.text for token in analyzer()(text[:_LONGEST])]


def _part(match: "re.Match[str]", *, is_last: bool) -> Any:
    field = _FIELDS.get(match["field"] or "")
    text = match["phrase"] if match["phrase"] is not None else match["word"]
    if match["field"] and field is None:
        text = f"{match['field']} {text}"
    words = words_of(text)
    if not words:
        return None
    fields = [field] if field else list(TEXT_FIELDS)
    return query.Or([_in_field(name, words, is_last=is_last and match["field"] is None) for name in fields])


def _in_field(field: str, words: list[str], *, is_last: bool) -> Any:
    boost = TEXT_FIELDS[field]
    if len(words) > 1:
        return query.Phrase(field, words, boost=boost)
    exact = query.Term(field, words[0], boost=boost)
    if is_last and field in _PREFIX_FIELDS and len(words[0]) >= _SHORTEST_PREFIX:
        return query.Or([exact, query.Prefix(field, words[0], boost=boost * 0.3)])
    return exact
