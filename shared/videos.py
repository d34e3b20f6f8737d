"""The catalog: what is known of each video, changed only by compare-and-swap, and what work each one still needs.

All about one video shares the table partition of its id: row "video" (the record), "plan-g<n>" (what a generation
will be made of), "part-g<n>-<part>" (one finished part: the first insert wins), "progress-g<n>-<part>" (a hint) and
"event-<time>" (the timeline), "outbox-<id>" (a fact not told yet: written in one batch with what it tells of, so that
none is lost and none is told that did not happen). Lists are partitions of table "lists": "active" (videos some work is
owed to) and "channel:<owner>" (newest first).
"""

import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec

from shared import facts, tickets
from shared.clock import Clock
from shared.errors import Conflict, Invalid, NotFound
from shared.facts import FACTS
from shared.tables import Change, Entity, Tables, Value, every_entity
from shared.untold import VIDEOS, to_tell

LISTS = "lists"
SOURCES = "sources"
"""Container of uploaded originals; blob name: `source_name(video, generation)`."""
MEDIA = "media"
"""Container of what players read; blob names: `<video>/g<generation>/<part>/<attempt>/<file>`."""

State = Literal["uploading", "queued", "processing", "playable", "published", "failed", "deleted"]
Privacy = Literal["public", "unlisted", "private"]
TERMINAL: frozenset[str] = frozenset({"published", "failed", "deleted"})
PLAYS: frozenset[str] = frozenset({"playable", "published"})

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_VIDEO_ID = re.compile(f"[{_BASE58}]{{11}}")
_MAX_SWAPS = 50
_JOINERS = "\u200c\u200d"
"""Invisible, yet part of how some scripts and emoji are written."""


def new_video_id() -> str:
    """64 random bits in base58, always 11 characters."""
    number = secrets.randbits(64)
    digits = []
    for _ in range(11):
        number, digit = divmod(number, 58)
        digits.append(_BASE58[digit])
    return "".join(digits)


def is_video_id(text: str) -> bool:
    return _VIDEO_ID.fullmatch(text) is not None


def source_name(video: str, generation: int) -> str:
    return f"{video}/g{generation}"


def part_prefix(video: str, generation: int, part: str, attempt: str) -> str:
    return f"{video}/g{generation}/{part}/{attempt}/"


class Playback(msgspec.Struct, frozen=True, kw_only=True):
    """Blob names in MEDIA of what is published; None for what is not there (yet).

    `generation` and `parts` say which finished parts it was assembled from, so that a late assemble never takes
    anything back.
    """

    master: str | None = None
    mp4: str | None = None
    poster: str | None = None
    storyboard: str | None = None
    generation: int = 0
    parts: tuple[str, ...] = ()


class PartPlan(msgspec.Struct, frozen=True, kw_only=True):
    """One part of a plan, made by one ticket.

    `kind` is the ticket kind that makes it; `needs` names parts that must be finished first; a part that is not
    `vital` may fail without failing the video; `weight` is its share of the work, for progress; `gives` names what its
    owner lacks without it ("its sound"); `detail` is for its handler alone.
    """

    name: str
    kind: str
    priority: tickets.Priority = "normal"
    fast: bool = False
    needs: tuple[str, ...] = ()
    vital: bool = True
    weight: float = 1.0
    gives: str = ""
    detail: dict[str, Any] = {}


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What a generation is made of. It is playable once the parts named in `first` are finished.

    `notes` are sentences for the owner: what of the source was left out or changed.
    """

    recipe: int
    duration: float
    width: int
    height: int
    parts: tuple[PartPlan, ...]
    first: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def part(self, name: str) -> PartPlan:
        for part in self.parts:
            if part.name == name:
                return part
        raise NotFound(f"the plan has no part {name!r}")


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A finished part: the attempt that won and what it made; `failed` is the reason if it was given up."""

    name: str
    attempt: str
    result: dict[str, Any] = {}
    failed: str | None = None


class Video(msgspec.Struct, frozen=True, kw_only=True):
    """The record of one video. Sizes in bytes, durations in seconds, times UTC.

    `revision` grows with every change of what people read (title, cast, privacy, state), so that the index knows
    what it has; `indexed` is the revision last made searchable. `etag` is the version this record was read at.
    """

    id: str
    owner: str
    channel: str
    state: State = "uploading"
    generation: int = 1
    reason: str | None = None
    title: str
    description: str = ""
    tags: tuple[str, ...] = ()
    actors: tuple[str, ...] = ()
    directors: tuple[str, ...] = ()
    language: str | None = None
    privacy: Privacy = "public"
    filename: str = ""
    content_type: str = "application/octet-stream"
    size: int = 0
    source: str = ""
    """Blob name of the original in SOURCES."""
    block_size: int = 0
    blocks: str | None = None
    """A digest of the block list committed, so that a repeated commit is told from another one."""
    created: datetime
    committed: datetime | None = None
    published: datetime | None = None
    duration: float | None = None
    width: int | None = None
    height: int | None = None
    playback: Playback = Playback()
    revision: int = 1
    indexed: int = 0
    etag: str = ""


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a video's timeline."""

    at: datetime
    what: str
    detail: str = ""


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How far one attempt at a part is, 0 to 1. A hint for people: no decision rests on it."""

    part: str
    attempt: str
    fraction: float
    at: datetime


def missing_parts(plan: Plan, parts: Mapping[str, Part]) -> list[PartPlan]:
    """The parts that can be worked on now: not finished, and all they need is."""
    return [
        part
        for part in plan.parts
        if part.name not in parts and all(need in parts for need in part.needs)
    ]


def first_ready(plan: Plan, parts: Mapping[str, Part]) -> bool:
    return all(name in parts and parts[name].failed is None for name in plan.first)


def whole(plan: Plan, parts: Mapping[str, Part]) -> bool:
    return all(part.name in parts for part in plan.parts)


def fraction_done(plan: Plan, parts: Mapping[str, Part], progress: Mapping[str, Progress]) -> float:
    """Weighted share of the plan that is finished, 0 to 1."""
    total = sum(part.weight for part in plan.parts) or 1.0
    done = sum(
        part.weight * (1.0 if part.name in parts else progress[part.name].fraction if part.name in progress else 0.0)
        for part in plan.parts
    )
    return min(1.0, done / total)


class Catalog:
    """The videos over a table store. Every method raises the table store's named failures."""

    def __init__(
        self, tables: Tables, clock: Clock, announce: Callable[[str, int, str | None], None] = lambda *_: None
    ) -> None:
        """`announce` is told of a video, its generation and a trace, once a fact of it waits to be told."""
        self._tables = tables
        self._clock = clock
        self._announce = announce

    def ensure(self) -> None:
        self._tables.ensure_table(VIDEOS)
        self._tables.ensure_table(LISTS)

    # The record

    def add(self, video: Video, *, event: str) -> Video:
        """Enter a new video; its active row goes first, so that a crash in between leaves something the sweep finds.

        Raises Conflict if there is a video of that id, whose places in the lists then stay as they are.
        """
        if self.find(video.id) is not None:
            raise Conflict(f"there is a video {video.id} already")
        self.mark_active(video.id)
        channel_row = f"{_inverted(video.created)}-{video.id}"
        self._tables.upsert(LISTS, f"channel:{video.owner}", channel_row, {"video": video.id})
        changes = [Change(kind="insert", row="video", properties=_properties(video)), self._event_change(event, "")]
        etag = self._tables.batch(VIDEOS, video.id, changes)[0] or ""
        return msgspec.structs.replace(video, etag=etag)

    def get(self, video_id: str) -> Video:
        """Raises NotFound, for a malformed id too."""
        if not is_video_id(video_id):
            raise NotFound(f"there is no video {video_id!r}")
        try:
            return _video(self._tables.get(VIDEOS, video_id, "video"))
        except NotFound:
            raise NotFound(f"there is no video {video_id}") from None

    def find(self, video_id: str) -> Video | None:
        try:
            return self.get(video_id)
        except NotFound:
            return None

    def change(
        self, video_id: str, how: Callable[[Video], Video | None], *, event: str | None = None,
        traceparent: str | None = None,
    ) -> Video:  # fmt: skip
        """Compare-and-swap until it holds: `how` gets the record as it is and returns it changed, or None to leave it.

        `event`, when given and something changed, is added to the timeline in the same batch.
        """
        for _ in range(_MAX_SWAPS):
            video = self.get(video_id)
            changed = how(video)
            if changed is None or changed == video:
                return video
            changes = [Change(kind="update", row="video", properties=_properties(changed), if_match=video.etag)]
            if event is not None:
                changes.append(self._event_change(event, changed.reason or ""))
            if event in FACTS:
                told = facts.of_video(FACTS[event], msgspec.structs.asdict(changed), self._clock.now())
                changes.append(to_tell(told))
            try:
                etag = self._tables.batch(VIDEOS, video_id, changes)[0]
            except Conflict:
                continue
            if event in FACTS:
                self._announce(video_id, changed.generation, traceparent)
            return msgspec.structs.replace(changed, etag=etag or "")
        raise Conflict(f"video {video_id} is changed by too many at once; try again")

    def channel(self, owner: str, *, limit: int = 50, marker: str | None = None) -> tuple[list[Video], str | None]:
        """The owner's videos newest first, whatever their state but deleted, and the marker of the next page."""
        page = self._tables.query(LISTS, f"channel:{owner}", limit=limit, marker=marker)
        videos = [self.find(str(row.properties["video"])) for row in page.entities]
        return [video for video in videos if video and video.state != "deleted"], page.marker

    def all(self) -> Iterator[Video]:
        """Every video there is, deleted ones included: for rebuilding and copying."""
        return (_video(entity) for entity in every_entity(self._tables, VIDEOS, None) if entity.row == "video")

    # The active list

    def mark_active(self, video_id: str) -> None:
        self._tables.upsert(LISTS, "active", video_id, {"since": self._clock.now()})

    def mark_idle(self, video_id: str) -> None:
        try:
            self._tables.delete(LISTS, "active", video_id)
        except NotFound:
            return

    def active(self) -> Iterator[str]:
        return (video_id for video_id, _ in self.active_since())

    def active_since(self) -> Iterator[tuple[str, datetime]]:
        """Each video on the list, and when it was last put there."""
        return ((entity.row, entity.timestamp) for entity in every_entity(self._tables, LISTS, "active"))

    # Plan, parts, progress

    def record_plan(self, video_id: str, generation: int, plan: Plan) -> Plan:
        """The first plan of a generation wins; returns the one that holds."""
        try:
            self._tables.insert(VIDEOS, video_id, f"plan-g{generation}", {"json": _json(plan)})
        except Conflict:
            return self.plan(video_id, generation)
        return plan

    def plan(self, video_id: str, generation: int) -> Plan:
        entity = self._tables.get(VIDEOS, video_id, f"plan-g{generation}")
        return msgspec.json.decode(str(entity.properties["json"]), type=Plan)

    def find_plan(self, video: Video) -> Plan | None:
        """That of its generation, once it is decided."""
        try:
            return self.plan(video.id, video.generation)
        except NotFound:
            return None

    def record_part(
        self, video_id: str, generation: int, part: Part, *, traceparent: str | None = None
    ) -> Part:
        """The first to record a part wins; returns the one that holds, whose attempt tells the caller who won."""
        row = f"part-g{generation}-{part.name}"
        changes = [Change(kind="insert", row=row, properties={"json": _json(part)})]
        if part.failed is None and part.result.get("renditions"):
            names = [str(rendition["name"]) for rendition in part.result["renditions"]]
            told = facts.of_renditions(video_id, generation, part.name, names, self._clock.now())
            changes.append(to_tell(told))
        try:
            self._tables.batch(VIDEOS, video_id, changes)
        except Conflict:
            return self.parts(video_id, generation)[part.name]
        if len(changes) > 1:
            self._announce(video_id, generation, traceparent)
        return part

    def forget_given_up(self, video_id: str, generation: int) -> None:
        """Let the parts that failed be made again; one made meanwhile stays."""
        for row in self._rows(video_id, f"part-g{generation}-"):
            if _part(row).failed is not None:
                with suppress(NotFound, Conflict):  # another was here
                    self._tables.delete(VIDEOS, video_id, row.row, if_match=row.etag)

    def parts(self, video_id: str, generation: int) -> dict[str, Part]:
        found = [_part(row) for row in self._rows(video_id, f"part-g{generation}-")]
        return {part.name: part for part in found}

    def report_progress(self, video_id: str, generation: int, progress: Progress) -> None:
        self._tables.upsert(VIDEOS, video_id, f"progress-g{generation}-{progress.part}", {"json": _json(progress)})

    def progress(self, video_id: str, generation: int) -> dict[str, Progress]:
        rows = self._rows(video_id, f"progress-g{generation}-")
        found = [msgspec.json.decode(str(row.properties["json"]), type=Progress) for row in rows]
        return {progress.part: progress for progress in found}

    def last_moved(self, video_id: str) -> datetime:
        """When anything of the video last changed (record, plan, parts, progress, timeline), by the store's clock."""
        moved = [row.timestamp for row in self._rows(video_id, "")]
        if not moved:
            raise NotFound(f"there is no video {video_id}")
        return max(moved)

    # The timeline

    def add_event(self, video_id: str, what: str, detail: str = "") -> None:
        change = self._event_change(what, detail)
        self._tables.upsert(VIDEOS, video_id, change.row, change.properties or {})

    def events(self, video_id: str) -> list[Event]:
        """Oldest first."""
        rows = self._rows(video_id, "event-")
        return [msgspec.json.decode(str(row.properties["json"]), type=Event) for row in rows]

    def _event_change(self, what: str, detail: str) -> Change:
        event = Event(at=self._clock.now(), what=what, detail=detail[:1000])
        row = f"event-{event.at:%Y%m%dT%H%M%S.%f}-{secrets.token_hex(3)}"
        return Change(kind="upsert", row=row, properties={"json": _json(event)})

    def _rows(self, video_id: str, prefix: str) -> Iterator[Entity]:
        return every_entity(self._tables, VIDEOS, video_id, row_from=prefix, row_to=prefix + "\U0010ffff")


def clean_title(text: str, *, fallback: str = "Untitled") -> str:
    """A title people can read: one line, no control characters, at most 200 characters."""
    return one_line(text)[:200].strip() or fallback


def one_line(text: str) -> str:
    """Without what is not seen: control characters, and those that turn the direction of a line."""
    return " ".join("".join(c if c.isprintable() or c in _JOINERS else " " for c in text).split())


def check_privacy(text: str) -> Privacy:
    if text not in ("public", "unlisted", "private"):
        raise Invalid(f"privacy is public, unlisted or private, not {text!r}")
    return text  # type: ignore[return-value]


def _inverted(moment: datetime) -> str:
    """A key that sorts newest first."""
    microseconds = int((datetime(9999, 1, 1, tzinfo=UTC) - moment).total_seconds() * 1_000_000)
    return f"{microseconds:018d}"


def _json(value: msgspec.Struct) -> str:
    return msgspec.json.encode(value).decode()


def _properties(video: Video) -> dict[str, Value]:
    stored = msgspec.structs.replace(video, etag="")
    return {"json": _json(stored), "state": video.state, "owner": video.owner}


def _video(entity: Entity) -> Video:
    video = msgspec.json.decode(str(entity.properties["json"]), type=Video)
    return msgspec.structs.replace(video, etag=entity.etag)


def _part(entity: Entity) -> Part:
    return msgspec.json.decode(str(entity.properties["json"]), type=Part)
