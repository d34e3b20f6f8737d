"""A worker's surroundings: real stores in a temporary folder, a clock moved by hand, and short ways to make things."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from shared.services import Services, build_services
from shared.settings import Settings
from shared.tickets import Ticket
from tests.workers.clock import HandClock
from tests.workers.faulty import Faulty
from tests.workers.stores import open_stores
from workers.attempt import Attempt
from workers.handlers.table import Handler
from workers.lease import LeaseKeeper
from workers.listener import Listener, Look
from workers.scratch import Scratch
from workers.turns import Turns


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        storage=f"local:{tmp_path / 'data'}", min_free=0, secret_key="for tests only", ffmpeg_threads=1, max_tries=3
    )


@pytest.fixture
def faulty(settings: Settings, clock: HandClock) -> dict[str, Faulty]:
    """The stores, each able to fail on demand: "blobs", "queues", "tables"."""
    return {name: Faulty(store) for name, store in open_stores(settings, clock).items()}


@pytest.fixture
def services(settings: Settings, clock: HandClock, faulty: dict[str, Faulty]) -> Services:
    return build_services(
        settings, faulty["blobs"], faulty["queues"], faulty["tables"], caller="test", clock=clock  # type: ignore[arg-type]
    )


@pytest.fixture
def scratch(services: Services) -> Iterator[Scratch]:
    scratch = Scratch(services.scratch)
    yield scratch
    scratch.close()


@pytest.fixture
def attempt(services: Services, scratch: Scratch) -> Callable[[Ticket], Attempt]:
    return lambda ticket: Attempt(services, ticket, scratch)


class Worker:
    """A listener with the handlers a test gives it, worked by hand."""

    def __init__(self, services: Services, scratch: Scratch) -> None:
        self.keeper = LeaseKeeper()
        self._services = services
        self._scratch = scratch

    def listener(
        self, run: Callable[[Sequence[Any]], None], *, queues: Sequence[str], batch: int = 1, **options: Any
    ) -> Listener:
        handler = Handler(run=lambda tickets, services, attempt: run(tickets), together=batch > 1)
        kinds = ("ingest", "encode", "pictures", "package", "assemble", "index", "erase", "sweep")
        return Listener(
            self._services,
            dict.fromkeys(queues, 1),
            dict.fromkeys(kinds, handler),
            keeper=self.keeper,
            scratch=self._scratch,
            batch=batch,
            **options,
        )

    def work(self, run: Callable[[Sequence[Any]], None], queue: str = "ingest", *, batch: int = 1) -> bool:
        """One turn over one queue; whether there was a ticket."""
        return self.listener(run, queues=[queue], batch=batch).step(Turns({queue: 1})) is Look.WORK


@pytest.fixture
def worker(services: Services, scratch: Scratch) -> Worker:
    return Worker(services, scratch)
