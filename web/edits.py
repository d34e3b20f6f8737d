"""What people say of a video: checked, and changed."""

import re
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from shared import videos
from shared.errors import Invalid
from shared.tickets import Index
from shared.videos import Privacy, Video
from web.site import services, traceparent

_TITLE = 200
_DESCRIPTION = 5000
_MOST = 50
_LONGEST = 100
_LANGUAGE = re.compile(r"[a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8})*")


class Details(msgspec.Struct, frozen=True, kw_only=True):
    """What people say of a video; a field left out (UNSET) stays as it is."""

    title: str | msgspec.UnsetType = msgspec.UNSET
    description: str | msgspec.UnsetType = msgspec.UNSET
    tags: tuple[str, ...] | str | msgspec.UnsetType = msgspec.UNSET
    actors: tuple[str, ...] | str | msgspec.UnsetType = msgspec.UNSET
    directors: tuple[str, ...] | str | msgspec.UnsetType = msgspec.UNSET
    language: str | msgspec.UnsetType | None = msgspec.UNSET
    privacy: str | msgspec.UnsetType = msgspec.UNSET


def edit(video: Video, details: Details) -> Video:
    """Marked active first, so that a crash leaves the index's work to be found.

    Raises Invalid naming the field that cannot be so.
    """
    changes = checked(details)

    def changed(now: Video) -> Video | None:
        edited = msgspec.structs.replace(now, **changes)
        return None if edited == now else msgspec.structs.replace(edited, revision=now.revision + 1)

    services().catalog.mark_active(video.id)
    now = services().catalog.change(video.id, changed, event="edited", traceparent=traceparent())
    made = services().clock.now()
    services().tickets.send(Index(video=now.id, generation=now.generation, made=made, traceparent=traceparent()))
    return now


def checked(details: Details) -> dict[str, Any]:
    """The fields given, as they are kept. Raises Invalid naming the first that cannot be."""
    given = {
        name: value for name in Details.__struct_fields__ if (value := getattr(details, name)) is not msgspec.UNSET
    }
    checks: dict[str, Callable[[str, object], object]] = {
        "title": _title,
        "description": _text,
        "tags": _names,
        "actors": _names,
        "directors": _names,
        "language": _language,
        "privacy": _privacy,
    }
    return {name: checks[name](name, value) for name, value in given.items()}


def _title(name: str, value: object) -> str:
    text = " ".join(str(value).split())
    if len(text) > _TITLE:
        raise Invalid(f"{name}: at most {_TITLE} characters, not {len(text):,}")
    title = videos.clean_title(text, fallback="")
    if not title:
        raise Invalid(f"{name}: at least one character people can read")
    return title


def _privacy(name: str, value: object) -> Privacy:
    try:
        return videos.check_privacy(str(value))
    except Invalid:
        raise Invalid(f"{name}: public, unlisted or private, not {str(value)[:_LONGEST]!r}") from None


def _text(name: str, value: object) -> str:
    text = str(value).replace("\r\n", "\n").replace("\x00", "")
    if len(text) > _DESCRIPTION:
        raise Invalid(f"{name}: at most {_DESCRIPTION:,} characters, not {len(text):,}")
    return text


def _names(name: str, value: object) -> tuple[str, ...]:
    """A list, or one text with commas; each once, in order."""
    entries = value.split(",") if isinstance(value, str) else value
    assert isinstance(entries, Iterable)
    cleaned = tuple(dict.fromkeys(text for text in (videos.one_line(str(entry)) for entry in entries) if text))
    if len(cleaned) > _MOST:
        raise Invalid(f"{name}: at most {_MOST}, not {len(cleaned)}")
    if any(len(text) > _LONGEST for text in cleaned):
        raise Invalid(f"{name}: each at most {_LONGEST} characters")
    return cleaned


def _language(_: str, value: object) -> str | None:
    if not value:
        return None
    if not _LANGUAGE.fullmatch(str(value)):
        raise Invalid(f"language: a code such as en or pt-BR, not {str(value)[:_LONGEST]!r}")
    return str(value)
