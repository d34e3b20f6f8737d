"""How many tickets each process has ended and in how much time, in a table: for a scaler that is on another machine.

A row a process, written about every half minute and only if it ended something, so that an idle one costs nothing.
"""

import secrets
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta

from shared.clock import Clock
from shared.errors import NotFound
from shared.services import Services
from shared.tables import Tables, every_entity
from workers.report import Told

TALLIES = "tallies"
EVERY = 30.0
"""Seconds between two writes."""
_FORGOTTEN_AFTER = timedelta(days=1)


class Tally:
    """One process's. `told` is what it says of its work on its own machine.

    `write` is to be called every EVERY, and a last time when it ends. Raises MatineeError.
    """

    def __init__(self, services: Services, pool: str, told: Callable[[], Told]) -> None:
        self._tables = services.tables
        self._pool = pool
        self._row = f"{socket.gethostname()}-{secrets.token_hex(4)}"
        self._told = told
        self._written = 0
        services.tables.ensure_table(TALLIES)

    def write(self) -> None:
        told = self._told()
        if told.done != self._written:
            self._tables.upsert(TALLIES, self._pool, self._row, {"done": told.done, "seconds": told.seconds})
            self._written = told.done


def read_tallies(tables: Tables, clock: Clock, pool: str) -> Mapping[str, Told]:
    """By process. What has told nothing new for a day is dropped: it has ended, or will write its row again."""
    found = {}
    for entity in every_entity(tables, TALLIES, pool):
        if clock.now() - entity.timestamp > _FORGOTTEN_AFTER:
            with suppress(NotFound):
                tables.delete(TALLIES, pool, entity.row)
            continue
        done, seconds = entity.properties["done"], entity.properties["seconds"]
        found[entity.row] = Told(held=0, done=int(str(done)), seconds=float(str(seconds)))
    return found
