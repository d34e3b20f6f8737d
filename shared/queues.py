"""Queues: messages that turn invisible when taken and come back unless deleted; at least once, in no promised order."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

MAX_BODY_BYTES = 48 * 1024
"""UTF-8 bytes of a body: 64 KiB, the service's limit, after base64."""
MAX_BATCH = 32
MAX_METADATA_BYTES = 8 * 1024
MAX_VISIBILITY = timedelta(days=7)
MAX_TTL = timedelta(days=7)
DEFAULT_VISIBILITY = timedelta(seconds=30)


@dataclass(frozen=True, kw_only=True)
class Message:
    """A message as sent, received or peeked. `receipt` is None when peeked; times are the store's, UTC."""

    id: str
    body: str
    receipt: str | None
    dequeue_count: int
    inserted: datetime
    expires: datetime
    next_visible: datetime | None


@dataclass(frozen=True, kw_only=True)
class Depth:
    """`messages` approximate, invisible ones included (as Azure counts); `oldest` the age of the oldest visible one.

    `visible`: how many of them could be received now; the others are held by a receiver, or delayed. None says that
    there are at least MAX_BATCH of these, and that the store counts only all together (as Azure does).
    """

    messages: int
    oldest: timedelta | None
    visible: int | None


class Queues(Protocol):
    """The queue store.

    Names: 3-63 of a-z, 0-9 and single hyphens. A bad name or limit raises Invalid; a missing queue NotFound; a store
    that stays busy after the backend's own jittered retries Busy; a full disk Full. A message sent is durable before
    `send` returns. Delivery is at least once: any message may be seen twice, by two receivers at the same time.
    """

    def create(self, name: str, *, metadata: Mapping[str, str] | None = None) -> None:
        """Creating one that exists with equal metadata is not an error; with other metadata, Conflict (as on Azure)."""
        ...

    def ensure(self, name: str) -> None:
        """Create it unless it exists, whatever its metadata."""
        ...

    def exists(self, name: str) -> bool: ...

    def list_queues(self, *, prefix: str = "") -> list[str]: ...

    def delete_queue(self, name: str) -> None:
        """With all it holds."""
        ...

    def clear(self, name: str) -> None: ...

    def get_metadata(self, name: str) -> Mapping[str, str]: ...

    def set_metadata(self, name: str, metadata: Mapping[str, str]) -> None:
        """Overwrites all of it; 8 KB at most."""
        ...

    def send(
        self, queue: str, body: str, *, delay: timedelta = timedelta(0), ttl: timedelta = MAX_TTL
    ) -> Message:
        """Invisible for `delay` (0 to 7 days, less than `ttl`); gone for good after `ttl` (1 s to 7 days)."""
        ...

    def receive(
        self, queue: str, *, count: int = 1, visibility: timedelta = DEFAULT_VISIBILITY
    ) -> list[Message]:
        """Take up to `count` (1-32) visible messages, hiding each for `visibility` (1 s to 7 days).

        Returns at once, empty when nothing is visible. Each taking gives a fresh pop receipt and adds one to the
        dequeue count. A failure is raised, never reported as an empty queue.
        """
        ...

    def update(
        self, queue: str, message_id: str, receipt: str, *, visibility: timedelta, body: str | None = None
    ) -> str:
        """Hide it for `visibility` (0 s, that is visible now, to 7 days) from now, maybe with a new body.

        Returns the new receipt; the old one is dead. Raises Lost if the receipt is not the current one, or the
        message is gone. An expired visibility alone does not kill a receipt: only another receive does.
        """
        ...

    def delete(self, queue: str, message_id: str, receipt: str) -> None:
        """Gone for good. Raises Lost as `update` does."""
        ...

    def peek(self, queue: str, *, count: int = 1) -> list[Message]:
        """Look at up to 32 visible messages without taking them."""
        ...

    def depth(self, queue: str) -> Depth: ...
