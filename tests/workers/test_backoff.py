"""Waiting between empty polls, and before another try."""

import random
from itertools import pairwise

from workers.backoff import Backoff, pause, retry_delay


def test_the_first_wait_is_the_least_one() -> None:
    assert Backoff(0.05, 10.0).next() == 0.05


def test_waits_grow_as_least_plus_2_to_the_k_minus_1_steps_of_80_to_120_ms() -> None:
    backoff = Backoff(0.05, 1000.0, random.Random(1))
    for k in range(10):
        steps = 2**k - 1
        assert 0.05 + steps * 0.080 <= backoff.next() <= 0.05 + steps * 0.120


def test_waits_stop_growing_at_the_most() -> None:
    backoff = Backoff(0.05, 1.0)
    waits = [backoff.next() for _ in range(5000)]
    assert max(waits) == 1.0
    assert waits[-1] == 1.0


def test_a_hit_starts_from_the_least_again() -> None:
    backoff = Backoff(0.05, 1.0)
    for _ in range(10):
        backoff.next()
    backoff.reset()
    assert backoff.next() == 0.05


def test_two_idle_tasks_do_not_wait_in_step() -> None:
    one, other = Backoff(0.0, 100.0), Backoff(0.0, 100.0)
    assert [one.next() for _ in range(6)] != [other.next() for _ in range(6)]


def test_a_retry_waits_twice_as_long_each_time_and_at_most_five_minutes() -> None:
    delays = [retry_delay(tries, random.Random(7)).total_seconds() for tries in range(1, 30)]
    assert 0.8 <= delays[0] <= 1.2
    assert all(later > earlier for earlier, later in pairwise(delays[:8]))
    assert max(delays) <= 360


def test_a_pause_is_never_longer_than_fifteen_seconds_and_a_bit() -> None:
    assert all(pause(forgiven, random.Random(7)).total_seconds() <= 18 for forgiven in range(100))
