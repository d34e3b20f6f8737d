"""A life over an account of Azure Storage, where nobody copies a world or moves its clock: what takes time takes it."""

import os
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from signal import Signals

from shared.services import Services, build_services, open_stores
from shared.settings import Settings
from tests.azurite.running import Account
from tests.faults.deadly import Deadly, Trap, When
from tests.faults.life import BLOCKS, browse, is_quiet, the_clip, work_one

_ROUNDS = 20


class RealClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def forward(self, seconds: float) -> None:
        time.sleep(seconds)


class FarWorld:
    """An empty account of its own, and a folder for work in progress."""

    def __init__(self, root: Path, account: Account, *, lease: float = 4.0) -> None:
        self.clock = RealClock()
        self.settings = Settings(
            storage=account.connection_string, scratch=str(root), secret_key="for tests only", min_free=0,
            ffmpeg_threads=1, lease=lease, stalled_after=0.2, garbage_after=0.0, max_tries=50,
            block_size=len(the_clip()) // BLOCKS + 1,
        )  # fmt: skip

    def open(self, trap: Trap | None = None) -> Services:
        stores = open_stores(self.settings, self.clock, lambda *_: None)
        if trap is not None:
            names = ("blobs", "queues", "tables")
            stores = tuple(Deadly(store, name, trap) for store, name in zip(stores, names, strict=True))  # type: ignore
        return build_services(self.settings, *stores, caller="test", clock=self.clock)


@dataclass(frozen=True)
class Life:
    """The calls of a whole life in which nobody is harmed, and how many of them were the browser's half."""

    calls: tuple[str, ...]
    browsing: int


def record(world: FarWorld) -> Life:
    trap = Trap()
    services = world.open(trap)
    opening = len(trap.calls)
    browse(services)
    browsing = len(trap.calls)
    _work(services)
    return Life(calls=tuple(trap.calls[opening:]), browsing=browsing - opening)


def begin(world: FarWorld, number: int, when: When, signal: Signals) -> int:
    """A process that lives the life and gets the signal at its call `number`; returns its id."""
    child = os.fork()
    if child == 0:
        try:
            trap = Trap(when=when, signal=signal)
            services = world.open(trap)
            trap.number = len(trap.calls) + number
            browse(services)
            _work(services)
        finally:
            os._exit(1)
    return child


def _work(services: Services) -> None:
    for _ in range(_ROUNDS):
        while work_one(services):
            pass
        if is_quiet(services):
            return
        time.sleep(0.2)
