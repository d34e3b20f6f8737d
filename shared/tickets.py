"""Work tickets: what a queue message says, which queue it goes to, and how old and new versions live side by side.

On the wire a ticket is one JSON object: `schema` "matinee.ticket", `version`, `kind`, `id`, and the fields of its
kind below. The id is a function of what is asked, so two tickets asking the same have the same id. A reader ignores
fields it does not know and sets aside versions it does not know.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal, Protocol

import msgspec

from shared.errors import Invalid
from shared.queues import Message, Queues

SCHEMA = "matinee.ticket"
VERSION = 1

Priority = Literal["high", "normal", "low"]


class Ticket(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    """What every ticket carries: `made` and who asked (`traceparent`, W3C), and the memory of earlier tries.

    `forgiven` counts deliveries that were nobody's fault (a drain, a full disk) and so do not count towards poison;
    `history` holds the last reasons, newest last.
    """

    schema: str = SCHEMA
    version: int = VERSION
    made: datetime
    traceparent: str | None = None
    forgiven: int = 0
    history: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        return str(self.__struct_config__.tag)

    @property
    def id(self) -> str:
        raise NotImplementedError(f"{type(self).__name__} has no id")

    @property
    def queue(self) -> str:
        raise NotImplementedError(f"{type(self).__name__} has no queue")


class VideoTicket(Ticket, frozen=True, kw_only=True):
    """A ticket about one generation of one video."""

    video: str
    generation: int

    @property
    def id(self) -> str:
        return f"{self.kind}:{self.video}:{self.generation}"


class Ingest(VideoTicket, frozen=True, kw_only=True, tag="ingest"):
    """Probe the source, decide the plan, send its first parts."""

    @property
    def queue(self) -> str:
        return "ingest"


class PartTicket(VideoTicket, frozen=True, kw_only=True):
    """Make one part of the plan. `fast` parts go through the ingest pool, so the first picture never waits in line."""

    part: str
    priority: Priority = "normal"
    fast: bool = False

    @property
    def id(self) -> str:
        return f"{self.kind}:{self.video}:{self.generation}:{self.part}"

    @property
    def queue(self) -> str:
        return "ingest" if self.fast else f"transcode-{self.priority}"


class Encode(PartTicket, frozen=True, kw_only=True, tag="encode"):
    """Encode the renditions of one part (video rungs of one decode, or an audio track) into segments."""


class Pictures(PartTicket, frozen=True, kw_only=True, tag="pictures"):
    """Make the poster and the storyboard."""


class Package(PartTicket, frozen=True, kw_only=True, tag="package"):
    """Join finished segments into the one progressive MP4."""


class Assemble(VideoTicket, frozen=True, kw_only=True, tag="assemble"):
    """Publish the playlists that the finished parts allow."""

    @property
    def queue(self) -> str:
        return "ingest"


class Index(VideoTicket, frozen=True, kw_only=True, tag="index"):
    """Bring the search index to what the catalog says of this video, be it new, changed or deleted."""

    @property
    def queue(self) -> str:
        return "index"


class Erase(VideoTicket, frozen=True, kw_only=True, tag="erase"):
    """Remove the blobs of a deleted video."""

    @property
    def queue(self) -> str:
        return "housekeeping"


class Announce(VideoTicket, frozen=True, kw_only=True, tag="announce"):
    """Tell the topic what happened to this video."""

    @property
    def queue(self) -> str:
        return "events"


class Deliver(Ticket, frozen=True, kw_only=True, tag="deliver"):
    """Hand what waits in a subscription to its receiver."""

    subscription: str

    @property
    def id(self) -> str:
        return f"deliver:{self.subscription}"

    @property
    def queue(self) -> str:
        return "events"


class Sweep(Ticket, frozen=True, kw_only=True, tag="sweep"):
    """Find what stopped moving and what nobody refers to; `slot` is the period it belongs to."""

    slot: str

    @property
    def id(self) -> str:
        return f"sweep:{self.slot}"

    @property
    def queue(self) -> str:
        return "housekeeping"


KINDS: tuple[type[Ticket], ...] = (Ingest, Encode, Pictures, Package, Assemble, Index, Erase, Announce, Deliver, Sweep)
PART_KINDS: dict[str, type[PartTicket]] = {"encode": Encode, "pictures": Pictures, "package": Package}

QUEUES = ("ingest", "transcode-high", "transcode-normal", "transcode-low", "index", "events", "housekeeping")
POISON_SUFFIX = "-poison"

_AnyTicket = Ingest | Encode | Pictures | Package | Assemble | Index | Erase | Announce | Deliver | Sweep
_decoder = msgspec.json.Decoder(_AnyTicket)


class _Head(msgspec.Struct, kw_only=True):
    schema: str
    version: int


def encode(ticket: Ticket) -> str:
    fields = msgspec.to_builtins(ticket)
    return msgspec.json.encode({**fields, "id": ticket.id}).decode()


def decode(body: str) -> Ticket:
    """Raises Invalid, saying why, for what is not a ticket, or is one of a version or kind we do not know."""
    try:
        head = msgspec.json.decode(body, type=_Head)
        if head.schema != SCHEMA or head.version > VERSION:
            told = f"{head.schema!r} version {head.version}"
            raise Invalid(f"the ticket is {told}; this worker knows {SCHEMA} up to {VERSION}")
        return _decoder.decode(body)
    except msgspec.MsgspecError as error:
        raise Invalid(f"not a ticket this worker can read: {error}") from error


class Outbox(Protocol):
    """Where tickets are sent."""

    def send(self, ticket: Ticket, *, delay: timedelta = timedelta(0)) -> Message: ...


class TicketQueues:
    """The ticket queues over a queue store: every queue of QUEUES and its poison twin."""

    def __init__(self, queues: Queues) -> None:
        self._queues = queues

    def ensure(self) -> None:
        for queue in QUEUES:
            self._queues.ensure(queue)
            self._queues.ensure(queue + POISON_SUFFIX)

    def send(self, ticket: Ticket, *, delay: timedelta = timedelta(0)) -> Message:
        return self._queues.send(ticket.queue, encode(ticket), delay=delay)

    def send_all(self, tickets: Sequence[Ticket]) -> None:
        for ticket in tickets:
            self.send(ticket)
