"""Subscriptions: a filter, what is changed of what passes it, and a durable queue of its own with the copies.

A table row each; the queue is `sub-<name>`, dead letters wait in `sub-<name>-dead`. Everything goes through the three
storage contracts, so it holds on each backend.
"""

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import lru_cache
from typing import Literal

import msgspec

from shared.clock import Clock
from shared.errors import Conflict, Invalid, NotFound
from shared.queues import Queues
from shared.tables import Entity, Tables, every_entity
from shared.topics.cloudevents import CloudEvent, Property, encode
from shared.topics.expressions import read_actions, read_filter

SUBSCRIPTIONS = "subscriptions"
TOPIC = "videos"
COPIES = "sub-"
"""How the names of the subscriptions' queues begin; no queue of tickets' does."""
RECEIVED = "received"
"""Table of events that were completed: partition = subscription, row = event."""
AUDIT = "audit"
Kind = Literal["pull", "webhook", "audit"]
_NAME = re.compile(r"[a-z0-9](?:-?[a-z0-9]){0,39}")


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """What must all hold: properties (or attributes) equal to values, beginning with texts, and an expression true."""

    equal: dict[str, Property] = {}
    prefix: dict[str, str] = {}
    sql: str = ""


class Subscription(msgspec.Struct, frozen=True, kw_only=True):
    """`kind` says who receives: programs that ask (pull), a web address, or our audit log.

    `disabled` is why nothing is copied to it any more, for a person. `failing` is since when its webhook fails.
    """

    name: str
    kind: Kind = "pull"
    filter: Filter = Filter()
    action: str = ""
    url: str = ""
    secret: str = ""
    created: datetime
    disabled: str = ""
    failing: datetime | None = None
    etag: str = ""

    @property
    def queue(self) -> str:
        return f"{COPIES}{self.name}"

    @property
    def dead(self) -> str:
        return f"{COPIES}{self.name}-dead"


class Subscriptions:
    """All of them. Methods raise the stores' named failures."""

    def __init__(self, tables: Tables, queues: Queues, clock: Clock) -> None:
        self._tables = tables
        self._queues = queues
        self._clock = clock

    def ensure(self) -> None:
        """The audit log is there from the start."""
        for table in (SUBSCRIPTIONS, RECEIVED):
            self._tables.ensure_table(table)
        if self.find(AUDIT) is None:
            try:
                self.create(AUDIT, kind="audit")
            except Conflict:  # another process was faster
                return

    def create(
        self, name: str, *, kind: Kind = "pull", matching: Filter | None = None, action: str = "", url: str = "",
        secret: str = "",
    ) -> Subscription:  # fmt: skip
        """Its queue goes first, so that nothing is ever copied to what is not there.

        Raises Invalid for a name, filter or action that cannot be; Conflict for a name taken.
        """
        made = Subscription(
            name=_checked(name), kind=kind, filter=matching or Filter(), action=action, url=url, secret=secret,
            created=self._clock.now(),
        )  # fmt: skip
        passes(made), changes(made)
        for queue in (made.queue, made.dead):
            self._queues.ensure(queue)
        try:
            etag = self._tables.insert(SUBSCRIPTIONS, TOPIC, name, _properties(made))
        except Conflict:
            raise Conflict(f"there is a subscription {name!r} already") from None
        return msgspec.structs.replace(made, etag=etag)

    def get(self, name: str) -> Subscription:
        """Raises NotFound."""
        try:
            return _subscription(self._tables.get(SUBSCRIPTIONS, TOPIC, name))
        except (NotFound, Invalid):
            raise NotFound(f"there is no subscription {name!r}") from None

    def find(self, name: str) -> Subscription | None:
        try:
            return self.get(name)
        except NotFound:
            return None

    def all(self) -> Iterator[Subscription]:
        """By name."""
        return (_subscription(entity) for entity in every_entity(self._tables, SUBSCRIPTIONS, TOPIC))

    def change(self, name: str, how: Callable[[Subscription], Subscription]) -> Subscription:
        """Compare-and-swap until it holds. Raises NotFound."""
        while True:
            now = self.get(name)
            changed = how(now)
            if changed == now:
                return now
            try:
                etag = self._tables.update(SUBSCRIPTIONS, TOPIC, name, _properties(changed), if_match=now.etag)
            except Conflict:
                continue
            return msgspec.structs.replace(changed, etag=etag)

    def delete(self, name: str) -> None:
        """With all that waits in it. Raises NotFound."""
        gone = self.get(name)
        self._tables.delete(SUBSCRIPTIONS, TOPIC, name)
        for queue in (gone.queue, gone.dead):
            try:
                self._queues.delete_queue(queue)
            except NotFound:
                continue

    def publish(self, event: CloudEvent) -> list[Subscription]:
        """Copy it to each subscription whose filter passes it, as its action changes it; returns those.

        Published again, because somebody died in the middle, it is copied again: receivers know it by its id.
        """
        reached = []
        for subscription in self.all():
            if not subscription.disabled and passes(subscription)(event):
                self._queues.send(subscription.queue, encode(changes(subscription)(event)))
                reached.append(subscription)
        return reached


def passes(subscription: Subscription) -> Callable[[CloudEvent], bool]:
    """Raises Invalid for a filter that cannot be."""
    wanted = subscription.filter
    true = _read_filter(wanted.sql) if wanted.sql else lambda _: True

    def passed(event: CloudEvent) -> bool:
        return (
            all(event.value(name) == value for name, value in wanted.equal.items())
            and all(str(event.value(name) or "").startswith(text) for name, text in wanted.prefix.items())
            and true(event)
        )

    return passed


def changes(subscription: Subscription) -> Callable[[CloudEvent], CloudEvent]:
    """Raises Invalid for an action that cannot be."""
    return _read_actions(subscription.action) if subscription.action else lambda event: event


_read_filter = lru_cache(maxsize=256)(read_filter)
_read_actions = lru_cache(maxsize=256)(read_actions)


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise Invalid(f"a subscription's name is 1 to 40 lower-case letters, digits and single dashes, not {name!r}")
    return name


def _properties(subscription: Subscription) -> dict[str, str]:
    return {"json": msgspec.json.encode(msgspec.structs.replace(subscription, etag="")).decode()}


def _subscription(entity: Entity) -> Subscription:
    found = msgspec.json.decode(str(entity.properties["json"]), type=Subscription)
    return msgspec.structs.replace(found, etag=entity.etag)
