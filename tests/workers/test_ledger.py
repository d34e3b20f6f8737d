"""What processes tell a scaler on another machine, through a table."""

from datetime import timedelta

import pytest

from infra.pools import Pool, read_pools
from infra.scaling.figures import Figures
from shared.errors import Busy
from shared.services import Services
from tests.workers.clock import HandClock
from tests.workers.faulty import Faulty
from workers.ledger import Ledger, read_ledger
from workers.news import Settled
from workers.report import Tally


class Work:
    """A process that ends tickets, and tells of it."""

    def __init__(self, services: Services) -> None:
        self._tally = Tally()
        self.ledger = Ledger(services, "transcode", self._tally)

    def ends(self, *seconds: float) -> None:
        """A ticket for each, after so much work."""
        for one in seconds:
            self._tally(Settled(queue="low", kind="encode", outcome="done", counted=True, seconds=one))
        self.ledger.write()


@pytest.fixture
def pool() -> Pool:
    [found] = [pool for pool in read_pools() if pool.name == "transcode"]
    return found


@pytest.fixture
def figures(services: Services, clock: HandClock) -> Figures:
    return Figures(services.queues, lambda pool: read_ledger(services.tables, clock, pool))


def read(figures: Figures, pool: Pool) -> tuple[int, float]:
    reading = figures.read(pool, 2, None, at=0.0, cpu=None)
    return reading.done, reading.seconds


def test_what_processes_ended_is_added_up_from_look_to_look(services: Services, figures: Figures, pool: Pool) -> None:
    one, other = Work(services), Work(services)
    one.ends(12.0, 8.0)
    assert read(figures, pool) == (2, 20.0)
    one.ends(9.0, 8.0, 7.0)
    other.ends(3.5)
    assert read(figures, pool) == (4, 27.5)
    assert read(figures, pool) == (0, 0.0)


def test_an_idle_process_writes_nothing(services: Services) -> None:
    work = Work(services)
    work.ends(3.0, 3.0, 3.0)
    before = services.meter.total()
    for _ in range(10):
        work.ledger.write()
    assert services.meter.total() == before


def test_while_the_table_cannot_be_read_nothing_is_counted_and_nothing_twice_afterwards(
    services: Services, faulty: dict[str, Faulty], figures: Figures, pool: Pool
) -> None:
    work = Work(services)
    work.ends(8.0, 12.0)
    read(figures, pool)
    work.ends(10.0)
    faulty["tables"].refuse("query", Busy("the storage is away"))
    assert read(figures, pool) == (0, 0.0)
    assert read(figures, pool) == (1, 10.0)


def test_what_a_process_told_that_ended_is_dropped_after_a_day(
    services: Services, clock: HandClock, figures: Figures, pool: Pool
) -> None:
    Work(services).ends(8.0, 12.0)
    clock.forward(timedelta(hours=23).total_seconds())
    assert len(read_ledger(services.tables, clock, "transcode")) == 1
    clock.forward(timedelta(hours=2).total_seconds())
    assert read_ledger(services.tables, clock, "transcode") == {}
    clock.forward(-timedelta(hours=24).total_seconds())
    assert read_ledger(services.tables, clock, "transcode") == {}
