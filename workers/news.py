"""What a listener tells whoever watches it: work seen, queues found empty, tries begun and settled, leases lost."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import structlog

from shared.tickets import Ticket


@dataclass(frozen=True, kw_only=True)
class WorkDetected:
    """The first tickets after idling, or a call that there are some; `waiting` is how many where that is known."""

    queue: str
    waiting: int | None = None


@dataclass(frozen=True, kw_only=True)
class QueueEmpty:
    """A queue that was asked had nothing, for the first time after it had something."""

    queue: str


@dataclass(frozen=True, kw_only=True)
class Began:
    """A try begins: counted try `number` (from 1) of a ticket that was made `waited` seconds ago."""

    queue: str
    ticket: Ticket
    attempt: str
    number: int
    waited: float


@dataclass(frozen=True, kw_only=True)
class Settled:
    """A try is over and its ticket deleted, given back, or set aside; it took `seconds`.

    Of those ffmpeg and ffprobe ran for `ffmpeg_seconds`, and took `ffmpeg_cpu` processor seconds.
    """

    queue: str
    kind: str
    outcome: Literal["done", "retried", "set aside"]
    counted: bool
    seconds: float
    reason: str = ""
    ffmpeg_seconds: float = 0.0
    ffmpeg_cpu: float = 0.0


@dataclass(frozen=True, kw_only=True)
class LeaseLost:
    """A ticket at work is surely or maybe another's now; its try was told to stop."""

    queue: str
    ticket: Ticket
    why: str


News = WorkDetected | QueueEmpty | Began | Settled | LeaseLost
Watcher = Callable[[News], None]
"""Called in the thread where it happened, which waits meanwhile; what it raises is logged and goes no further."""
Tell = Callable[[News], None]
"""Passes news on to every watcher; never raises."""


def telling(watchers: Sequence[Watcher]) -> Tell:
    def tell(news: News) -> None:
        for watcher in watchers:
            try:
                watcher(news)
            except Exception:  # whoever watches must not be able to fail the work
                structlog.get_logger().exception("a watcher failed", news=type(news).__name__)

    return tell
