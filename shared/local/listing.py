"""Pages of a container's blobs by name, with the names beyond a delimiter folded into their prefix."""

import base64
import binascii
import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from shared.errors import Invalid
from shared.local.versions import COLUMNS, Stored


class Asked(NamedTuple):
    container: int
    prefix: str
    delimiter: str | None


class Page(NamedTuple):
    """`following` is the name the next page starts at."""

    blobs: list[Stored]
    prefixes: list[str]
    following: str | None


def page(db: sqlite3.Connection, asked: Asked, limit: int, cursor: str) -> Page:
    found = Page([], [], None)
    for entry in _entries(db, asked, max(cursor, asked.prefix)):
        if len(found.blobs) + len(found.prefixes) == limit:
            return found._replace(following=entry if isinstance(entry, str) else entry.name)
        if isinstance(entry, str):
            found.prefixes.append(entry)
        else:
            found.blobs.append(entry)
    return found


def check_limit(limit: int) -> None:
    if not 1 <= limit <= 5000:
        raise Invalid(f"a page holds 1 to 5,000 entries, not {limit}")


def write_marker(following: str | None) -> str | None:
    return None if following is None else base64.urlsafe_b64encode(following.encode()).decode()


def read_marker(marker: str | None) -> str:
    try:
        return base64.urlsafe_b64decode(marker or "").decode()
    except (binascii.Error, ValueError):
        raise Invalid("this is not a marker of this listing") from None


def _entries(db: sqlite3.Connection, asked: Asked, cursor: str | None) -> Iterator[Stored | str]:
    """Blobs, and folders as text, in order; behind each folder the walk goes on at the first name outside it."""
    while cursor is not None:
        start, cursor = cursor, None
        for stored in _blobs_from(db, asked, start):
            folder = _folder(stored.name, asked)
            if folder is not None:
                yield folder
                cursor = _above(folder)
                break
            yield stored


def _blobs_from(db: sqlite3.Connection, asked: Asked, start: str) -> Iterator[Stored]:
    query = f"SELECT {COLUMNS} FROM blobs WHERE container = ? AND name >= ? ORDER BY name"
    for row in db.execute(query, (asked.container, start)):
        if not row[0].startswith(asked.prefix):
            return
        yield Stored._make(row)


def _folder(name: str, asked: Asked) -> str | None:
    if not asked.delimiter:
        return None
    cut = name.find(asked.delimiter, len(asked.prefix))
    return None if cut < 0 else name[: cut + len(asked.delimiter)]


def _above(prefix: str) -> str | None:
    """The smallest text above every text that starts with `prefix`, in code point order; None if there is none."""
    while prefix:
        code = ord(prefix[-1]) + 1
        if 0xD800 <= code < 0xE000:  # surrogates are no characters
            code = 0xE000
        if code <= 0x10FFFF:
            return prefix[:-1] + chr(code)
        prefix = prefix[:-1]
    return None
