"""Queues: a message taken turns invisible and comes back unless deleted; only the newest receipt rules it."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import Conflict, Lost, NotFound
from shared.queues import MAX_TTL, Queues
from tests.contract.backend import Backend
from tests.contract.making import fresh, when_gone


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


def bodies(messages: list) -> list[str]:
    return sorted(message.body for message in messages)


def test_a_message_sent_is_received(queues: Queues, queue: str) -> None:
    sent = queues.send(queue, "hello")
    (received,) = queues.receive(queue)
    assert (received.id, received.body, received.dequeue_count) == (sent.id, "hello", 1)
    assert received.receipt


def test_nothing_visible_is_an_empty_list(queues: Queues, queue: str) -> None:
    assert queues.receive(queue) == []
    assert queues.peek(queue) == []


def test_a_message_taken_is_invisible_to_others(queues: Queues, queue: str) -> None:
    queues.send(queue, "once")
    queues.receive(queue)
    assert queues.receive(queue) == []
    assert queues.peek(queue) == []


def test_it_comes_back_when_its_time_is_over(backend: Backend, queues: Queues, queue: str) -> None:
    queues.send(queue, "again")
    (first,) = queues.receive(queue, visibility=seconds(2))
    backend.wait(2.1)
    (second,) = queues.receive(queue)
    assert second.id == first.id
    assert second.receipt != first.receipt
    assert second.dequeue_count == 2


def test_its_times_are_the_stores_and_aware(queues: Queues, queue: str) -> None:
    sent = queues.send(queue, "x", ttl=seconds(60))
    (received,) = queues.receive(queue, visibility=seconds(30))
    assert sent.inserted.utcoffset() == timedelta(0)
    assert received.expires - received.inserted == seconds(60)
    assert received.next_visible is not None
    assert abs((received.next_visible - received.inserted) - seconds(30)) < seconds(5)


def test_a_delayed_message_is_invisible_at_first(backend: Backend, queues: Queues, queue: str) -> None:
    queues.send(queue, "later", delay=seconds(2))
    assert queues.receive(queue) == []
    assert queues.depth(queue).messages == 1
    backend.wait(2.1)
    assert bodies(queues.receive(queue)) == ["later"]


def test_a_message_is_gone_for_good_after_its_time_to_live(backend: Backend, queues: Queues, queue: str) -> None:
    queues.send(queue, "short", ttl=seconds(1))
    queues.send(queue, "long")
    backend.wait(2)
    assert bodies(queues.peek(queue, count=32)) == ["long"]
    assert bodies(queues.receive(queue, count=32)) == ["long"]
    assert queues.depth(queue).messages == 1


def test_a_message_that_expired_while_held_is_lost_to_its_holder(
    backend: Backend, queues: Queues, queue: str
) -> None:
    queues.send(queue, "x", ttl=seconds(2))
    (held,) = queues.receive(queue, visibility=seconds(1))
    backend.wait(3)
    with pytest.raises(Lost):
        queues.update(queue, held.id, held.receipt, visibility=seconds(5))
    with pytest.raises(Lost):
        queues.delete(queue, held.id, held.receipt)


def test_it_lives_seven_days_unless_told_otherwise(queues: Queues, queue: str) -> None:
    sent = queues.send(queue, "x")
    assert sent.expires - sent.inserted == MAX_TTL == timedelta(days=7)


def test_up_to_32_are_taken_at_once_each_under_its_own_receipt_or_together(queues: Queues, queue: str) -> None:
    for number in range(40):
        queues.send(queue, str(number))
    taken = [queues.receive(queue, count=32), queues.receive(queue, count=32)]
    assert [len(batch) for batch in taken] == [32, 8]
    assert {message.body for batch in taken for message in batch} == {str(number) for number in range(40)}
    for message in taken[0]:
        queues.delete(queue, message.id, message.receipt)
    assert queues.depth(queue).messages == 8


def test_the_default_hides_for_half_a_minute(backend: Backend, queues: Queues, queue: str) -> None:
    if not backend.waits_for_days:
        return
    queues.send(queue, "x")
    queues.receive(queue)
    backend.wait(29)
    assert queues.receive(queue) == []
    backend.wait(2)
    assert bodies(queues.receive(queue)) == ["x"]


def test_deleted_is_gone_for_good(backend: Backend, queues: Queues, queue: str) -> None:
    queues.send(queue, "x")
    (message,) = queues.receive(queue, visibility=seconds(1))
    queues.delete(queue, message.id, message.receipt)
    backend.wait(1.1)
    assert queues.receive(queue) == []
    with pytest.raises(Lost):
        queues.delete(queue, message.id, message.receipt)
    with pytest.raises(Lost):
        queues.update(queue, message.id, message.receipt, visibility=seconds(5))


def test_a_renewal_extends_and_kills_the_old_receipt(backend: Backend, queues: Queues, queue: str) -> None:
    queues.send(queue, "x")
    (message,) = queues.receive(queue, visibility=seconds(2))
    backend.wait(1)
    fresh_receipt = queues.update(queue, message.id, message.receipt, visibility=seconds(3))
    backend.wait(2)
    assert queues.receive(queue) == []
    with pytest.raises(Lost):
        queues.update(queue, message.id, message.receipt, visibility=seconds(5))
    with pytest.raises(Lost):
        queues.delete(queue, message.id, message.receipt)
    queues.delete(queue, message.id, fresh_receipt)


def test_an_update_to_zero_makes_it_visible_now(queues: Queues, queue: str) -> None:
    queues.send(queue, "x")
    (message,) = queues.receive(queue)
    queues.update(queue, message.id, message.receipt, visibility=seconds(0))
    assert bodies(queues.receive(queue)) == ["x"]


def test_an_update_may_change_the_body(queues: Queues, queue: str) -> None:
    queues.send(queue, "before")
    (message,) = queues.receive(queue)
    queues.update(queue, message.id, message.receipt, visibility=seconds(0), body="after")
    (changed,) = queues.receive(queue)
    assert (changed.id, changed.body, changed.dequeue_count) == (message.id, "after", 2)


def test_an_update_without_a_body_keeps_it(queues: Queues, queue: str) -> None:
    queues.send(queue, "stays")
    (message,) = queues.receive(queue)
    queues.update(queue, message.id, message.receipt, visibility=seconds(0))
    assert bodies(queues.receive(queue)) == ["stays"]


def test_whoever_received_last_rules(backend: Backend, queues: Queues, queue: str) -> None:
    queues.send(queue, "x")
    (first,) = queues.receive(queue, visibility=seconds(1))
    backend.wait(1.1)
    (second,) = queues.receive(queue)
    with pytest.raises(Lost):
        queues.update(queue, first.id, first.receipt, visibility=seconds(5))
    with pytest.raises(Lost):
        queues.delete(queue, first.id, first.receipt)
    queues.delete(queue, second.id, second.receipt)


def test_an_expired_visibility_alone_does_not_kill_a_receipt(backend: Backend, queues: Queues, queue: str) -> None:
    queues.send(queue, "x")
    (message,) = queues.receive(queue, visibility=seconds(1))
    backend.wait(2)
    renewed = queues.update(queue, message.id, message.receipt, visibility=seconds(30))
    assert queues.receive(queue) == []
    queues.delete(queue, message.id, renewed)


@pytest.mark.parametrize("receipt", ["", "made up", "AgAAAAMAAAAAAAAA"])
def test_a_receipt_never_given_is_lost(queues: Queues, queue: str, receipt: str) -> None:
    queues.send(queue, "x")
    (message,) = queues.receive(queue)
    with pytest.raises(Lost):
        queues.delete(queue, message.id, receipt)
    with pytest.raises(Lost):
        queues.update(queue, message.id, receipt, visibility=seconds(5))


def test_a_message_of_another_queue_is_lost(queues: Queues, queue: str) -> None:
    other = fresh("q")
    queues.create(other)
    queues.send(queue, "x")
    (message,) = queues.receive(queue)
    with pytest.raises(Lost):
        queues.delete(other, message.id, message.receipt)


def test_peeking_takes_nothing(queues: Queues, queue: str) -> None:
    queues.send(queue, "x")
    for _ in range(2):
        (seen,) = queues.peek(queue)
        assert (seen.body, seen.receipt, seen.dequeue_count) == ("x", None, 0)
    assert bodies(queues.receive(queue)) == ["x"]


def test_peeking_shows_up_to_32(queues: Queues, queue: str) -> None:
    for number in range(33):
        queues.send(queue, str(number))
    assert len(queues.peek(queue, count=32)) == 32
    assert len(queues.peek(queue)) == 1


def test_the_depth_counts_invisible_ones_too(queues: Queues, queue: str) -> None:
    assert queues.depth(queue).messages == 0
    for _ in range(3):
        queues.send(queue, "x")
    queues.receive(queue)
    queues.send(queue, "y", delay=seconds(60))
    assert queues.depth(queue).messages == 4


def test_the_depth_tells_those_that_could_be_received_from_those_held_and_delayed(queues: Queues, queue: str) -> None:
    assert queues.depth(queue).visible == 0
    for _ in range(5):
        queues.send(queue, "x")
    queues.send(queue, "y", delay=seconds(60))
    (held, *_) = queues.receive(queue, count=2)
    assert queues.depth(queue).visible == 3
    queues.update(queue, held.id, held.receipt, visibility=seconds(0))
    assert queues.depth(queue).visible == 4


def test_of_32_and_more_a_store_may_say_only_that_there_are_so_many(
    backend: Backend, queues: Queues, queue: str
) -> None:
    for _ in range(34):
        queues.send(queue, "x")
    queues.receive(queue)
    assert queues.depth(queue).visible == (33 if backend.counts_visible else None)
    queues.receive(queue, count=2)
    assert queues.depth(queue).visible == 31


def test_the_age_is_that_of_the_oldest_visible_message(backend: Backend, queues: Queues, queue: str) -> None:
    assert queues.depth(queue).oldest is None
    queues.send(queue, "old")
    backend.wait(2)
    queues.send(queue, "young")
    oldest = queues.depth(queue).oldest
    assert oldest is not None
    assert seconds(2) <= oldest < seconds(10)
    queues.receive(queue, count=32)
    assert queues.depth(queue).oldest is None


def test_clearing_drops_every_message_and_keeps_the_queue(queues: Queues, queue: str) -> None:
    for _ in range(3):
        queues.send(queue, "x")
    (held,) = queues.receive(queue)
    queues.clear(queue)
    assert queues.depth(queue).messages == 0
    with pytest.raises(Lost):
        queues.delete(queue, held.id, held.receipt)
    queues.send(queue, "y")
    assert bodies(queues.receive(queue)) == ["y"]


@given(body=st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_a_body_is_any_text(queues: Queues, queue: str, body: str) -> None:
    queues.send(queue, body)
    (message,) = queues.receive(queue)
    assert message.body == body
    queues.delete(queue, message.id, message.receipt)


@pytest.mark.parametrize("body", ["", "\r\n", "\x00\x01\x1f", "\U0001f600", "<&>]]>", "  spaces  "])
def test_awkward_bodies_come_back_as_they_were(queues: Queues, queue: str, body: str) -> None:
    queues.send(queue, body)
    assert [message.body for message in queues.receive(queue)] == [body]


def test_a_queue_is_created_listed_and_deleted(queues: Queues) -> None:
    stem = fresh("q")
    for end in ("b", "a"):
        queues.create(f"{stem}-{end}")
    assert queues.exists(f"{stem}-a")
    assert queues.list_queues(prefix=stem) == [f"{stem}-a", f"{stem}-b"]
    assert {f"{stem}-a", f"{stem}-b"} <= set(queues.list_queues())
    queues.delete_queue(f"{stem}-a")
    assert not queues.exists(f"{stem}-a")
    assert queues.list_queues(prefix=stem) == [f"{stem}-b"]


def test_deleting_a_queue_drops_what_it_holds(backend: Backend, queues: Queues, queue: str) -> None:
    queues.send(queue, "x")
    queues.delete_queue(queue)
    when_gone(backend, lambda: queues.create(queue))
    assert queues.receive(queue) == []


def test_creating_one_that_exists_is_no_error_if_its_metadata_is_equal(queues: Queues) -> None:
    name = fresh("q")
    queues.create(name, metadata={"a": "1", "b": "2"})
    queues.create(name, metadata={"b": "2", "a": "1"})
    with pytest.raises(Conflict):
        queues.create(name, metadata={"a": "other"})
    assert queues.get_metadata(name) == {"a": "1", "b": "2"}


def test_ensuring_a_queue_leaves_it_as_it_is(queues: Queues) -> None:
    name = fresh("q")
    queues.create(name, metadata={"a": "1"})
    queues.send(name, "x")
    queues.ensure(name)
    assert queues.get_metadata(name) == {"a": "1"}
    assert queues.depth(name).messages == 1
    other = fresh("q")
    queues.ensure(other)
    assert queues.exists(other)


def test_queue_metadata_is_overwritten_whole(queues: Queues, queue: str) -> None:
    assert queues.get_metadata(queue) == {}
    queues.set_metadata(queue, {"one": "1"})
    queues.set_metadata(queue, {"two": "2"})
    assert queues.get_metadata(queue) == {"two": "2"}


def test_a_missing_queue_is_not_found(queues: Queues) -> None:
    missing = fresh("q")
    for act in (queues.receive, queues.peek, queues.depth, queues.clear, queues.delete_queue, queues.get_metadata):
        with pytest.raises(NotFound):
            act(missing)
    with pytest.raises(NotFound):
        queues.send(missing, "x")
    with pytest.raises(NotFound):
        queues.set_metadata(missing, {})
    assert not queues.exists(missing)
