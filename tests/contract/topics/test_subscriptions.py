"""One event to many, each with a queue of its own: what passes, what is locked, what comes again, what never comes twice."""

from datetime import UTC, datetime, timedelta

import pytest

from shared.errors import Conflict, Invalid, NotFound
from shared.topics.cloudevents import CloudEvent
from shared.topics.receiver import Receiver
from shared.topics.subscriptions import AUDIT, Filter, Subscriptions
from tests.contract.backend import Backend

SHORT = timedelta(seconds=1)


def an_event(event_id: str = "e1", **properties: str) -> CloudEvent:
    return CloudEvent(
        id=event_id, type="video.published", subject="4Rk9mZQ2xLp", time=datetime(2030, 1, 1, tzinfo=UTC),
        properties={"channel": "anna", **properties},
    )  # fmt: skip


def receiver(backend: Backend, subscriptions: Subscriptions, name: str) -> Receiver:
    return Receiver(subscriptions.get(name), backend.queues, backend.tables)


def names(subscriptions: Subscriptions) -> list[str]:
    return [one.name for one in subscriptions.all()]


def test_each_subscription_has_a_copy_of_its_own(backend: Backend, subscriptions: Subscriptions) -> None:
    for name in ("one", "two"):
        subscriptions.create(name)
    assert {reached.name for reached in subscriptions.publish(an_event())} == {AUDIT, "one", "two"}
    one, two = (receiver(backend, subscriptions, name) for name in ("one", "two"))
    [taken] = one.receive()
    one.complete(taken)
    assert one.receive() == []
    assert [delivery.event for delivery in two.receive()] == [an_event()]


def test_only_what_passes_the_filter_is_copied_and_as_the_action_changes_it(
    backend: Backend, subscriptions: Subscriptions
) -> None:
    subscriptions.create("bobs", matching=Filter(equal={"channel": "bob"}))
    subscriptions.create("annas", matching=Filter(sql="channel LIKE 'a%'"), action="SET desk = 'film'; REMOVE channel")
    subscriptions.publish(an_event())
    assert receiver(backend, subscriptions, "bobs").receive() == []
    [taken] = receiver(backend, subscriptions, "annas").receive()
    assert taken.event.properties == {"desk": "film"}


def test_a_locked_copy_is_nobody_elses_until_its_lock_ends(backend: Backend, subscriptions: Subscriptions) -> None:
    subscriptions.create("one")
    subscriptions.publish(an_event())
    mine, other = (receiver(backend, subscriptions, "one") for _ in range(2))
    [first] = mine.receive(lock=SHORT)
    assert other.receive() == []
    backend.wait(1.5)
    [again] = other.receive()
    assert (first.tries, again.tries) == (1, 2)


def test_a_lock_can_be_renewed(backend: Backend, subscriptions: Subscriptions) -> None:
    subscriptions.create("one")
    subscriptions.publish(an_event())
    mine = receiver(backend, subscriptions, "one")
    [taken] = mine.receive(lock=SHORT)
    renewed = mine.renew(taken, timedelta(seconds=30))
    backend.wait(1.5)
    assert receiver(backend, subscriptions, "one").receive() == []
    mine.complete(renewed)


def test_an_abandoned_copy_comes_again_now_or_when_asked_for(backend: Backend, subscriptions: Subscriptions) -> None:
    subscriptions.create("one")
    subscriptions.publish(an_event())
    mine = receiver(backend, subscriptions, "one")
    [taken] = mine.receive()
    mine.abandon(taken)
    [again] = mine.receive()
    mine.abandon(again, delay=timedelta(seconds=2))
    assert mine.receive() == []
    backend.wait(2.5)
    assert len(mine.receive()) == 1


def test_receive_and_delete_hands_out_what_is_gone(backend: Backend, subscriptions: Subscriptions) -> None:
    subscriptions.create("one")
    subscriptions.publish(an_event())
    mine = receiver(backend, subscriptions, "one")
    assert len(mine.receive(lock=SHORT, mode="receive-and-delete")) == 1
    backend.wait(1.5)
    assert mine.receive() == []


def test_the_same_event_sent_again_arrives_once(backend: Backend, subscriptions: Subscriptions) -> None:
    subscriptions.create("one")
    mine = receiver(backend, subscriptions, "one")
    for _ in range(2):
        subscriptions.publish(an_event())
    [taken] = mine.receive()
    mine.complete(taken)
    assert mine.receive() == []
    subscriptions.publish(an_event())
    assert mine.receive() == []
    assert backend.queues.depth("sub-one").messages == 0
    subscriptions.publish(an_event("e2"))
    assert [delivery.event.id for delivery in mine.receive()] == ["e2"]


def test_dead_letters_keep_their_reason_and_can_be_sent_again(backend: Backend, subscriptions: Subscriptions) -> None:
    subscriptions.create("one")
    subscriptions.publish(an_event())
    mine = receiver(backend, subscriptions, "one")
    [taken] = mine.receive()
    mine.dead_letter(taken, "nobody there")
    assert mine.receive() == []
    [dead] = mine.dead_letters()
    assert (dead.event, dead.reason) == (an_event(), "nobody there")
    assert mine.replay() == 1
    assert mine.dead_letters() == []
    assert [delivery.event for delivery in mine.receive()] == [an_event()]


def test_what_is_no_event_is_put_apart_and_the_next_is_handed_out(
    backend: Backend, subscriptions: Subscriptions
) -> None:
    made = subscriptions.create("one")
    backend.queues.send(made.queue, "no event")
    subscriptions.publish(an_event())
    mine = receiver(backend, subscriptions, "one")
    assert [delivery.event for delivery in mine.receive(count=10)] == [an_event()]
    [dead] = mine.dead_letters()
    assert dead.event.data == {"body": "no event"}
    assert "CloudEvent" in dead.reason


def test_one_that_is_disabled_is_passed_over(backend: Backend, subscriptions: Subscriptions) -> None:
    import msgspec

    subscriptions.create("one")
    subscriptions.change("one", lambda it: msgspec.structs.replace(it, disabled="by an operator"))
    assert [reached.name for reached in subscriptions.publish(an_event())] == [AUDIT]
    assert receiver(backend, subscriptions, "one").receive() == []


def test_a_deleted_one_is_gone_with_what_waited(backend: Backend, subscriptions: Subscriptions) -> None:
    made = subscriptions.create("one")
    subscriptions.publish(an_event())
    subscriptions.delete("one")
    assert names(subscriptions) == [AUDIT]
    assert not backend.queues.exists(made.queue)
    with pytest.raises(NotFound):
        subscriptions.get("one")


def test_a_name_is_taken_once(subscriptions: Subscriptions) -> None:
    subscriptions.create("one")
    with pytest.raises(Conflict, match="'one'"):
        subscriptions.create("one")


@pytest.mark.parametrize("name", ["", "One", "a b", "a--b", "-a", "a-", "x" * 41, "é"])
def test_a_name_that_cannot_be_a_queues_is_refused(subscriptions: Subscriptions, name: str) -> None:
    with pytest.raises(Invalid):
        subscriptions.create(name)


def test_a_filter_or_action_that_is_wrong_is_refused_before_anything_is_made(
    backend: Backend, subscriptions: Subscriptions
) -> None:
    with pytest.raises(Invalid):
        subscriptions.create("one", matching=Filter(sql="channel ="))
    with pytest.raises(Invalid):
        subscriptions.create("one", action="SET type = 'x'")
    assert names(subscriptions) == [AUDIT]
    assert not backend.queues.exists("sub-one")
