"""The same work asked of both backends, one thread and eight: the embedded one, and Azure Storage's emulator."""

import itertools
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from shared.clock import SystemClock
from shared.services import Stores, open_stores
from shared.settings import Settings
from tests.azurite.running import azurite
from tests.bench.figure import Figure

THREADS = (1, 8)
_SMALL = 4 * 1024
_NAME = "bench"

Work = Callable[[int], object]


def measure(folder: Path, *, quick: bool) -> list[Figure]:
    seconds = 1.0 if quick else 4.0
    with azurite(folder) as emulator:
        embedded = _rates(_opened(f"local:{folder / 'data'}"), seconds)
        account = _rates(_opened(emulator.account().connection_string), seconds)
    return [
        Figure(figure=f"{what}, embedded", value=round(rate, 1), unit="/s", against=f"Azurite: {account[what]:,.0f}/s")
        for what, rate in embedded.items()
    ]


def _opened(storage: str) -> Stores:
    stores = open_stores(Settings(storage=storage, secret_key="bench"), SystemClock(), lambda *_: None)
    blobs, queues, tables = stores
    blobs.ensure_container(_NAME)
    queues.ensure(_NAME)
    tables.ensure_table(_NAME)
    return stores


def _rates(stores: Stores, seconds: float) -> dict[str, float]:
    return {
        f"{what}, {threads} thread{'s' if threads > 1 else ''}": _rate(work, threads, seconds)
        for what, work in _works(stores).items()
        for threads in THREADS
    }


def _works(stores: Stores) -> dict[str, Work]:
    blobs, queues, tables = stores
    data = bytes(_SMALL)

    def message(_: int) -> None:
        queues.send(_NAME, "a ticket")
        for one in queues.receive(_NAME):
            queues.delete(_NAME, one.id, one.receipt)

    return {
        "send, receive, delete a message": message,
        "put a blob of 4 KiB": lambda number: blobs.put(_NAME, f"blob{number}", data),
        "read a blob of 4 KiB": lambda number: blobs.get(_NAME, f"blob{number % 10}"),
        "write an entity": lambda number: tables.upsert(_NAME, "p", str(number), {"n": number}),
        "read an entity": lambda number: tables.get(_NAME, "p", str(number % 10)),
    }


def _rate(work: Work, threads: int, seconds: float) -> float:
    numbers, until = itertools.count(), time.perf_counter() + seconds
    started = time.perf_counter()

    def busy(_: int) -> int:
        done = 0
        while time.perf_counter() < until:
            work(next(numbers))
            done += 1
        return done

    with ThreadPoolExecutor(threads) as pool:
        done = sum(pool.map(busy, range(threads)))
    return done / (time.perf_counter() - started)
