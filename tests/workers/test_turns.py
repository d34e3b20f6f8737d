"""Weights between queues."""

from collections import Counter
from itertools import pairwise

from workers.turns import Turns

WEIGHTS = {"high": 6, "normal": 3, "low": 1}


def test_each_queue_comes_first_as_often_as_its_weight_says() -> None:
    turns = Turns(WEIGHTS)
    assert Counter(turns.next()[0] for _ in range(100)) == {"high": 60, "normal": 30, "low": 10}


def test_the_lightest_queue_never_waits_longer_than_the_sum_of_weights() -> None:
    turns = Turns(WEIGHTS)
    low = [number for number in range(200) if turns.next()[0] == "low"]
    assert all(later - earlier <= 10 for earlier, later in pairwise(low))


def test_every_turn_names_every_queue_so_that_no_empty_one_hides_work() -> None:
    turns = Turns(WEIGHTS)
    assert all(sorted(turns.next()) == ["high", "low", "normal"] for _ in range(20))
