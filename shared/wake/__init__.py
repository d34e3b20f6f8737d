"""The wake-up bus: hints that a queue has work, so that a pool may sleep without asking the storage.

They are hints only. Sending one never fails and takes no longer than a few milliseconds; losing one costs the time to
the next poll, or to the sweep where nobody polls (workers/sweep.py). An ear finds out for itself whether the bus still
carries: it calls itself every second, and is trusted while it hears that.
"""

import hashlib
from collections.abc import Iterable
from typing import Protocol

import msgspec

from shared.settings import Settings

PING_EVERY = 1.0
TRUST_FOR = 3.0
"""Seconds an ear is trusted after it heard itself: two pings may be lost or late."""


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """`count` tickets, the largest of `size` bytes, came into `queue` of the site named by `account`."""

    account: str
    queue: str
    size: int = 0
    count: int = 1


class Ear(Protocol):
    """Hears the calls of some queues, from the first `wait` until `deafen`. One thread waits, deafens and closes."""

    def wait(self, seconds: float) -> Call | None:
        """The next call, or None after so many seconds; it never raises. An ear that is deaf begins to listen."""
        ...

    def deafen(self) -> None:
        """Hear nothing until the next `wait`; calls go to others meanwhile."""
        ...

    def heard_all_since(self, moment: float) -> bool:
        """Whether it has listened without a break since that moment (`time.monotonic`), and the bus has carried."""
        ...

    def is_trusted(self) -> bool:
        """Whether it listens, and heard itself lately."""
        ...

    def close(self) -> None: ...


class Bus(Protocol):
    """Safe to share between threads."""

    def call(self, call: Call) -> None:
        """Tell as many who listen for that queue as there are tickets, and one more; never raises, never waits long."""
        ...

    def ear(self, account: str, queues: Iterable[str]) -> Ear | None:
        """None where there is no bus: who would sleep must poll."""
        ...


class NoBus:
    """Nobody is called."""

    def call(self, call: Call) -> None:
        del call

    def ear(self, account: str, queues: Iterable[str]) -> None:
        del account, queues


def account_of(settings: Settings) -> str:
    """A name of the storage that gives nothing of it away, so that sites which share a bus do not wake one another."""
    name = str(settings.local_path()) if settings.is_local else settings.storage_name
    return hashlib.sha256(name.encode()).hexdigest()[:16]
