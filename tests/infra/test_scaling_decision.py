"""How many processes a pool is to have: growing at once, shrinking after a while, and never for a look that failed."""

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.scaling.decision import STALE, Decision, decide
from infra.scaling.history import History, Reading
from infra.scaling.rules import Rule

EVERY = 10.0


def a_rule(**changes: object) -> Rule:
    given = {"floor": 1, "ceiling": 20, "slots": 1, "target": 60.0, "cool_down": 120.0, "headroom": 0.25, "service": 2.0}
    return Rule(**(given | changes))  # type: ignore[arg-type]


class Pool:
    """A pool that always has the size it is told, looked at every ten seconds unless said otherwise."""

    def __init__(self, size: int = 1, **rule: object) -> None:
        self.rule = a_rule(**rule)
        self.size = size
        self.now = 1000.0
        self.history = History()
        self.decision = Decision(size=size, why="")

    def looks(self, visible: int | None, hidden: int | None = 0, *, after: float = EVERY, **seen: object) -> int:
        """At what waits and what is held; how many processes it has then."""
        self.now += after
        reading = Reading(at=self.now, size=self.size, visible=visible, hidden=hidden, **seen)  # type: ignore[arg-type]
        self.history = self.history.plus(reading, keep=600)
        self.decision = decide(self.rule, self.history, self.now)
        self.size = self.decision.size
        return self.size

    def keeps_looking(self, lasting: float, visible: int | None, hidden: int | None = 0, **seen: object) -> list[int]:
        return [self.looks(visible, hidden, **seen) for _ in range(int(lasting / EVERY))]


def test_of_steps_in_depth_each_is_followed_and_the_way_down_takes_the_cool_down() -> None:
    pool = Pool()
    pool.keeps_looking(120, 0)
    assert [pool.looks(depth) for depth in (0, 50, 500, 5_000)] == [1, 2, 17, 20]
    down = pool.keeps_looking(200, 0)
    assert set(down[:11]) == {20}
    assert down[-1] == 1


@pytest.mark.parametrize(("depth", "size"), [(0, 1), (1, 1), (30, 1), (31, 2), (300, 10), (600, 20), (1_000_000, 20)])
def test_it_is_large_enough_to_work_off_what_waits_within_the_target(depth: int, size: int) -> None:
    """Of tickets that take two seconds one process works thirty in a minute."""
    assert Pool().looks(depth) == size


def test_a_process_that_works_on_several_tickets_at_a_time_counts_for_several() -> None:
    assert Pool(slots=4).looks(300) == 3


def test_never_more_are_started_than_there_are_tickets() -> None:
    assert Pool(service=600.0).looks(3) == 3


def test_what_has_waited_long_leaves_less_time() -> None:
    assert [Pool().looks(60, oldest=age) for age in (0.0, 30.0, 45.0, 600.0)] == [2, 4, 8, 8]


def test_work_that_turns_out_slow_asks_for_more() -> None:
    pool = Pool()
    assert pool.looks(60) == 2
    assert pool.looks(60, done=20, seconds=200.0) > 8


def test_those_at_work_are_kept_beside_those_that_wait_for_long_work() -> None:
    pool = Pool(size=3, service=600.0)
    assert pool.looks(2, 3, at_work=3) == 5


def test_a_flapping_queue_does_not_make_the_pool_flap() -> None:
    pool = Pool()
    pool.looks(0)
    sizes = [pool.looks(0 if number % 2 else 500, after=2.0) for number in range(150)]
    assert sizes[0] == 17
    assert sizes == sorted(sizes), "it is never taken back"


def test_a_load_at_the_border_of_two_sizes_does_not_make_it_flap() -> None:
    pool = Pool(cool_down=0.0)
    sizes = [pool.looks(depth) for _ in range(60) for depth in (121, 120)]
    assert set(sizes[2:]) == {5}


def test_a_pool_with_work_in_hand_is_never_smaller_than_what_is_at_work() -> None:
    pool = Pool(size=6)
    assert set(pool.keeps_looking(600, 0, 4, at_work=4)) <= {4, 5, 6}
    assert pool.size >= 4


def test_long_work_keeps_its_own_process_and_no_other() -> None:
    pool = Pool(size=4, service=600.0)
    assert pool.keeps_looking(300, 0, 1, at_work=1)[-1] == 1


def test_where_the_workers_tell_nothing_every_ticket_held_may_be_a_process() -> None:
    pool = Pool(size=6, slots=4)
    pool.keeps_looking(600, 0, 3)
    assert pool.size == 3


def test_processes_at_work_outlast_a_ceiling_that_was_lowered() -> None:
    pool = Pool(size=6, ceiling=2)
    assert pool.looks(0, 4, at_work=4) == 4
    assert pool.looks(0, 0, at_work=0) == 2


def test_a_look_that_failed_changes_nothing() -> None:
    pool = Pool(size=5)
    pool.keeps_looking(120, 0, 5, at_work=5)
    assert set(pool.keeps_looking(600, None, None)) == {5}
    assert "could not be read" in pool.decision.why


def test_after_looks_that_failed_the_cool_down_begins_afresh() -> None:
    pool = Pool(size=5, cool_down=60.0)
    pool.keeps_looking(50, 0)
    pool.looks(None, None)
    assert set(pool.keeps_looking(50, 0)) == {5}
    assert pool.keeps_looking(30, 0)[-1] == 1


def test_a_look_too_old_is_as_good_as_none() -> None:
    pool = Pool(size=5, cool_down=0.0)
    pool.looks(0)
    pool.size = 5
    late = decide(pool.rule, History((Reading(at=0.0, size=5, visible=0, hidden=0),)), STALE + 1)
    assert late.size == 5


def test_a_pool_nobody_has_looked_at_has_its_floor() -> None:
    assert decide(a_rule(floor=3), History(), 0.0).size == 3


def test_a_pool_may_rest_at_none_and_the_first_ticket_starts_one_at_once() -> None:
    pool = Pool(floor=0)
    assert pool.keeps_looking(200, 0)[-1] == 0
    assert pool.looks(1) == 1
    assert pool.looks(0, 1, at_work=1) == 1
    assert pool.keeps_looking(300, 0)[-1] == 0


def test_the_first_of_a_pool_is_started_however_busy_the_processor_is() -> None:
    pool = Pool(size=0, floor=0, cpu_below=0.9, cores=2, cores_per_process=2)
    assert pool.looks(500, cpu=1.0) == 1
    assert pool.looks(500, cpu=1.0) == 1
    assert "100% busy" in pool.decision.why


@pytest.mark.parametrize(("busy", "size"), [(0.0, 5), (0.4, 3), (0.8, 2), (0.89, 2), (0.95, 1), (None, 17)])
def test_a_pool_that_needs_the_processor_grows_by_what_it_has_to_spare(busy: float | None, size: int) -> None:
    """Eight cores, two for each process, of which nine tenths may be used; one more while there is anything to spare."""
    rule = {"cpu_below": 0.9, "cores": 9, "cores_per_process": 2}
    assert Pool(**rule).looks(500, cpu=busy) == size


def test_a_steady_stream_keeps_head_room_and_a_burst_is_not_taken_for_one() -> None:
    streaming = Pool(size=6)
    streaming.keeps_looking(600, 0, 4, at_work=4, done=20, seconds=40.0)
    assert streaming.size == 6, "two a second of two seconds each are four at work, and a quarter more kept ready"
    burst = Pool(size=1)
    burst.keeps_looking(120, 0)
    assert burst.looks(300) == 10


@st.composite
def looks(draw: st.DrawFn) -> tuple[Rule, list[tuple[float, int | None, int, float | None, float | None]]]:
    floor = draw(st.integers(0, 5))
    rule = a_rule(
        floor=floor,
        ceiling=draw(st.integers(max(1, floor), 12)),
        slots=draw(st.integers(1, 8)),
        target=draw(st.sampled_from([1.0, 60.0, 600.0])),
        cool_down=draw(st.sampled_from([0.0, 30.0, 120.0])),
        service=draw(st.sampled_from([0.01, 2.0, 900.0])),
        cpu_below=draw(st.sampled_from([None, 0.5, 0.9])),
        cores=4,
    )
    one = st.tuples(
        st.floats(0.5, 50),
        st.none() | st.integers(0, 10_000),
        st.integers(0, 40),
        st.none() | st.floats(0, 5_000),
        st.none() | st.floats(0, 1),
    )
    return rule, draw(st.lists(one, min_size=1, max_size=25))


def decisions(
    rule: Rule, seen: Iterable[tuple[float, int | None, int, float | None, float | None]]
) -> Iterable[tuple[Reading, Decision]]:
    pool = Pool(size=rule.floor)
    pool.rule = rule
    for after, visible, hidden, oldest, cpu in seen:
        pool.looks(visible, None if visible is None else hidden, after=after, oldest=oldest, cpu=cpu, done=hidden)
        reading = pool.history.last
        assert reading
        yield reading, pool.decision


@settings(max_examples=40, deadline=None)
@given(looks())
def test_whatever_is_seen_the_size_stays_within_its_bounds(case) -> None:
    rule, seen = case
    assert all(rule.floor <= decision.size <= rule.ceiling for _, decision in decisions(rule, seen))


@settings(max_examples=40, deadline=None)
@given(looks())
def test_whatever_is_seen_it_never_goes_below_what_is_at_work_nor_shrinks_unseen(case) -> None:
    rule, seen = case
    for reading, decision in decisions(rule, seen):
        if reading.visible is None:
            assert decision.size >= reading.size
        assert decision.size >= min(reading.most_at_work, reading.size)


@settings(max_examples=40, deadline=None)
@given(looks())
def test_whatever_is_seen_it_shrinks_at_most_once_in_a_cool_down_after_it_grew(case) -> None:
    rule, seen = case
    grown = None
    for reading, decision in decisions(rule, seen):
        if decision.size > reading.size:
            grown = reading.at
        if decision.size < reading.size and grown is not None:
            assert reading.at - grown >= rule.cool_down
