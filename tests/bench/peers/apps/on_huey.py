"""Huey over its SQLite file, synced at every commit; BENCH_STATEMENTS names a file to count statements in."""

import os
import sqlite3
from pathlib import Path
from typing import Any

from huey import Huey
from huey.storage import SqliteStorage

from tests.bench.peers.apps import ticket

_ON_ROWS = ("select", "insert", "update", "delete", "replace")


class CountedStorage(SqliteStorage):
    """Leaves one byte for each statement that reads or writes rows."""

    def _create_connection(self) -> Any:
        connection: sqlite3.Connection = super()._create_connection()
        if "BENCH_STATEMENTS" in os.environ:
            connection.set_trace_callback(_count)
        return connection


def _count(statement: str) -> None:
    if statement.split(maxsplit=1)[0].lower() in _ON_ROWS:
        with Path(os.environ["BENCH_STATEMENTS"]).open("ab", buffering=0) as file:
            file.write(b".")


huey = Huey("bench", storage_class=CountedStorage, filename=os.environ["BENCH_SQLITE"], fsync=True)


@huey.task()
def work(number: int) -> None:
    ticket.work(number)


def send(number: int) -> None:
    work(number)
