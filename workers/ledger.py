"""How many tickets each process has ended and in how much time, in a table: for a scaler that is on another machine.

A row a process, written about every half minute and only if it ended something, so that an idle one costs nothing.
"""

import secrets
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from shared.clock import Clock
from shared.errors import NotFound
from shared.services import Services
from shared.tables import Tables, every_entity
from workers.report import Tally

LEDGER = "ledger"
EVERY = 30.0
"""Seconds between two writes."""
_FORGOTTEN_AFTER = timedelta(days=1)


@dataclass(frozen=True, kw_only=True)
class Ended:
    """Tickets deleted or set aside since the process began, and the `seconds` of all its tries."""

    done: int
    seconds: float


class Ledger:
    """One process's row. `write` is to be called every EVERY, and a last time when it ends; raises MatineeError."""

    def __init__(self, services: Services, pool: str, tally: Tally) -> None:
        self._tables = services.tables
        self._pool = pool
        self._row = f"{socket.gethostname()}-{secrets.token_hex(4)}"
        self._tally = tally
        self._written = 0
        services.tables.ensure_table(LEDGER)

    def write(self) -> None:
        done = self._tally.outcomes["done"] + self._tally.outcomes["set aside"]
        if done != self._written:
            seconds = sum(list(self._tally.seconds.values()))
            self._tables.upsert(LEDGER, self._pool, self._row, {"done": done, "seconds": seconds})
            self._written = done


def read_ledger(tables: Tables, clock: Clock, pool: str) -> Mapping[str, Ended]:
    """By process. What has told nothing new for a day is dropped: it has ended, or will write its row again."""
    found = {}
    for entity in every_entity(tables, LEDGER, pool):
        if clock.now() - entity.timestamp > _FORGOTTEN_AFTER:
            with suppress(NotFound):
                tables.delete(LEDGER, pool, entity.row)
            continue
        done, seconds = entity.properties["done"], entity.properties["seconds"]
        found[entity.row] = Ended(done=int(str(done)), seconds=float(str(seconds)))
    return found
