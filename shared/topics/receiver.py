"""One subscription's copies, received: locked until completed, or gone as they are handed out; none twice."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Literal

import msgspec

from shared.clock import Clock
from shared.errors import Conflict, Invalid, Lost, NotFound
from shared.queues import Message, Queues
from shared.tables import Entity, Tables, every_entity
from shared.topics.cloudevents import CloudEvent, decode
from shared.topics.subscriptions import RECEIVED, Subscription

WINDOW = timedelta(days=1)
"""For how long an event that was completed is known: the same one, sent again within it, is dropped."""
Mode = Literal["peek-lock", "receive-and-delete"]


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """An event in hand. `tries` counts deliveries of this copy, from 1; `reason` is why it is dead, if it is."""

    event: CloudEvent
    tries: int
    reason: str = ""
    message: Message = field(repr=False)


class _Dead(msgspec.Struct, frozen=True, kw_only=True):
    reason: str
    body: str


class Receiver:
    """Methods raise the stores' named failures: Lost where a lock ran out, and somebody else may have the copy."""

    def __init__(self, subscription: Subscription, queues: Queues, tables: Tables) -> None:
        """The table RECEIVED must be there."""
        self._subscription = subscription
        self._queues = queues
        self._tables = tables

    def receive(
        self, *, count: int = 1, lock: timedelta = timedelta(seconds=30), mode: Mode = "peek-lock"
    ) -> list[Delivery]:
        """Up to `count` (32 at most), none if there is nothing now. What is no event goes to the dead letters.

        In peek-lock each is hidden for `lock` and comes again unless it is completed. In receive-and-delete it is gone
        before it is handed out: whoever dies then has lost it.
        """
        found = []
        for message in self._queues.receive(self._subscription.queue, count=count, visibility=lock):
            delivery = self._opened(message)
            if delivery is not None and mode == "receive-and-delete":
                self.complete(delivery)
            if delivery is not None:
                found.append(delivery)
        return found

    def complete(self, delivery: Delivery) -> None:
        """It is done with: noted first, so that a copy sent twice is dropped whatever happens in between."""
        with suppress(Conflict):  # the same event, sent twice
            self._tables.insert(RECEIVED, self._subscription.name, delivery.event.id, {})
        self._queues.delete(self._subscription.queue, delivery.message.id, delivery.message.receipt or "")

    def abandon(self, delivery: Delivery, *, delay: timedelta = timedelta(0)) -> None:
        """Give it back, to be received again after `delay`."""
        self._hide(delivery, delay)

    def renew(self, delivery: Delivery, lock: timedelta) -> Delivery:
        """Keep it for so long from now."""
        receipt = self._hide(delivery, lock)
        message = replace(delivery.message, receipt=receipt)
        return Delivery(event=delivery.event, tries=delivery.tries, message=message)

    def dead_letter(self, delivery: Delivery, reason: str) -> None:
        """Put it apart for a person, with the reason."""
        self._bury(delivery.message, reason)

    def dead_letters(self, *, count: int = 32) -> list[Delivery]:
        """Those longest there, without taking them."""
        messages = self._queues.peek(self._subscription.dead, count=count)
        return [_dead(message) for message in messages]

    def replay(self) -> int:
        """Every dead letter goes back among the others; returns how many. Cut short, one may go back twice."""
        replayed = 0
        while messages := self._queues.receive(self._subscription.dead, count=32, visibility=timedelta(seconds=60)):
            for message in messages:
                self._queues.send(self._subscription.queue, _told(message).body)
                self._queues.delete(self._subscription.dead, message.id, message.receipt or "")
                replayed += 1
        return replayed

    def _opened(self, message: Message) -> Delivery | None:
        try:
            event = decode(message.body)
        except Invalid as error:
            self._bury(message, str(error))
            return None
        if self._is_done(event):
            self._queues.delete(self._subscription.queue, message.id, message.receipt or "")
            return None
        return Delivery(event=event, tries=message.dequeue_count, message=message)

    def _is_done(self, event: CloudEvent) -> bool:
        try:
            self._tables.get(RECEIVED, self._subscription.name, event.id)
        except NotFound:
            return False
        return True

    def _bury(self, message: Message, reason: str) -> None:
        dead = msgspec.json.encode(_Dead(reason=reason[:1000], body=message.body)).decode()
        self._queues.send(self._subscription.dead, dead)
        self._queues.delete(self._subscription.queue, message.id, message.receipt or "")

    def _hide(self, delivery: Delivery, span: timedelta) -> str:
        message = delivery.message
        return self._queues.update(self._subscription.queue, message.id, message.receipt or "", visibility=span)


def long_received(tables: Tables, clock: Clock) -> Iterator[Entity]:
    """Notes of events completed so long ago that nobody sends them again."""
    since = clock.now() - WINDOW
    return (entity for entity in every_entity(tables, RECEIVED, None) if entity.timestamp <= since)


def forget_received(tables: Tables, note: Entity) -> None:
    try:
        tables.delete(RECEIVED, note.partition, note.row)
    except (NotFound, Lost):
        return


def _dead(message: Message) -> Delivery:
    told = _told(message)
    try:
        event = decode(told.body)
    except Invalid:
        event = CloudEvent(id="-", type="-", subject="-", time=message.inserted, data={"body": told.body})
    return Delivery(event=event, tries=message.dequeue_count, reason=told.reason, message=message)


def _told(message: Message) -> _Dead:
    try:
        return msgspec.json.decode(message.body, type=_Dead)
    except msgspec.MsgspecError:
        return _Dead(reason="unreadable", body=message.body)
