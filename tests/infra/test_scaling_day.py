"""The simulated day that infra/bench scaling measures by: it loses nothing, costs what it should, and comes out the same."""

import pytest

from infra.pools import Pool, read_pools
from infra.scaling.scaler import Scaler
from shared.settings import Settings
from tests.bench.day import Outcome, Simulation, Ticket, arrivals

HOUR = 3600.0


@pytest.fixture
def pool() -> Pool:
    [found] = [pool for pool in read_pools(cores=16) if pool.name == "transcode"]
    return found


def scaled(pool: Pool, tickets: list[Ticket]) -> Outcome:
    simulation = Simulation(pool, Settings(), size=1)
    scaler = Scaler(simulation, simulation)  # type: ignore[arg-type]
    return simulation.run(tickets, lambda now: scaler.look(pool, now.size(), now.told()).size)


def test_every_ticket_is_done_once_and_none_is_given_back_by_ours(pool: Pool) -> None:
    tickets = arrivals(3, 3 * HOUR, list(pool.queues))
    outcome = scaled(pool, tickets)
    assert len(outcome.waits) == len(tickets)
    assert outcome.transactions["settled"] == len(tickets)
    assert outcome.given_back == 0
    assert outcome.changes > 1
    assert outcome.worker_hours > sum(ticket.seconds for ticket in tickets) / 3600


def test_the_same_day_comes_out_the_same(pool: Pool) -> None:
    first, again = (scaled(pool, arrivals(3, HOUR, list(pool.queues))) for _ in range(2))
    assert first == again


def test_one_idle_process_polls_each_of_its_queues_about_once_a_second(pool: Pool) -> None:
    late = Ticket(queue="transcode-low", came=HOUR, seconds=5.0)
    outcome = Simulation(pool, Settings(), size=1).run([late], lambda _: 1)
    assert outcome.transactions["polls"] == pytest.approx(3 * 3600, rel=0.01)
    assert outcome.waits[0] <= 1.0


def test_what_is_heeded_of_work_is_what_keeps_it_from_being_given_back(pool: Pool) -> None:
    tickets = [Ticket(queue="transcode-low", came=0.0, seconds=300.0) for _ in range(3)]
    careless = Simulation(pool, Settings(), size=3, heeds_work=False).run(tickets, lambda now: max(1, now.waiting()))
    assert careless.given_back >= 2
