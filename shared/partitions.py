"""One queue spread over several, to pass what the service gives a single one: send spreads, receive goes round."""

import itertools
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta

from shared.errors import Lost, MatineeError, NotFound
from shared.queues import DEFAULT_VISIBILITY, MAX_TTL, Depth, Message, Queues

_BETWEEN = "~"


class PartitionedQueues:
    """Queues named in `partitions` (name -> how many) are `<name>-p0`, `<name>-p1`, ... beneath; no others are.

    A message's id says which one holds it. Change a number only while the queue is empty: what lies in partitions
    that are no longer counted is not looked for.
    """

    def __init__(self, queues: Queues, partitions: Mapping[str, int]) -> None:
        self._queues = queues
        self._partitions = dict(partitions)
        self._rounds = itertools.count(random.randrange(1 << 16))

    def create(self, name: str, *, metadata: Mapping[str, str] | None = None) -> None:
        for part in self._parts(name):
            self._queues.create(part, metadata=metadata)

    def ensure(self, name: str) -> None:
        for part in self._parts(name):
            self._queues.ensure(part)

    def exists(self, name: str) -> bool:
        return all(self._queues.exists(part) for part in self._parts(name))

    def list_queues(self, *, prefix: str = "") -> list[str]:
        whole = {part: name for name in self._partitions for part in self._parts(name)}
        names = {whole.get(name, name) for name in self._queues.list_queues(prefix=prefix)}
        return sorted(name for name in names if name.startswith(prefix))

    def delete_queue(self, name: str) -> None:
        gone = [self._deleted(part) for part in self._parts(name)]
        if not any(gone):
            raise NotFound(f"there is no queue {name!r}")

    def clear(self, name: str) -> None:
        for part in self._parts(name):
            self._queues.clear(part)

    def get_metadata(self, name: str) -> Mapping[str, str]:
        return self._queues.get_metadata(self._parts(name)[0])

    def set_metadata(self, name: str, metadata: Mapping[str, str]) -> None:
        for part in self._parts(name):
            self._queues.set_metadata(part, metadata)

    def send(
        self, queue: str, body: str, *, delay: timedelta = timedelta(0), ttl: timedelta = MAX_TTL
    ) -> Message:
        parts = self._parts(queue)
        place = next(self._rounds) % len(parts)
        return self._marked(queue, place, self._queues.send(parts[place], body, delay=delay, ttl=ttl))

    def receive(
        self, queue: str, *, count: int = 1, visibility: timedelta = DEFAULT_VISIBILITY
    ) -> list[Message]:
        """Every partition is asked, beginning with another each time, until there are enough."""
        return self._gathered(
            queue, count, lambda part, wanted: self._queues.receive(part, count=wanted, visibility=visibility)
        )

    def update(
        self, queue: str, message_id: str, receipt: str, *, visibility: timedelta, body: str | None = None
    ) -> str:
        part, inner = self._holder(queue, message_id)
        return self._queues.update(part, inner, receipt, visibility=visibility, body=body)

    def delete(self, queue: str, message_id: str, receipt: str) -> None:
        part, inner = self._holder(queue, message_id)
        self._queues.delete(part, inner, receipt)

    def peek(self, queue: str, *, count: int = 1) -> list[Message]:
        return self._gathered(queue, count, lambda part, wanted: self._queues.peek(part, count=wanted))

    def depth(self, queue: str) -> Depth:
        depths = [self._queues.depth(part) for part in self._parts(queue)]
        oldest = [depth.oldest for depth in depths if depth.oldest is not None]
        visible = [depth.visible for depth in depths if depth.visible is not None]
        return Depth(
            messages=sum(depth.messages for depth in depths),
            oldest=max(oldest, default=None),
            visible=sum(visible) if len(visible) == len(depths) else None,
        )

    def _parts(self, name: str) -> list[str]:
        if name not in self._partitions:
            return [name]
        return [f"{name}-p{place}" for place in range(self._partitions[name])]

    def _gathered(self, queue: str, count: int, ask: Callable[[str, int], list[Message]]) -> list[Message]:
        found: list[Message] = []
        for place, part in self._round(queue):
            try:
                messages = ask(part, count - len(found))
            except MatineeError:
                if found:  # what is taken already must reach its receiver; the failure will show again
                    return found
                raise
            found += [self._marked(queue, place, message) for message in messages]
            if len(found) >= count:
                break
        return found

    def _round(self, queue: str) -> Iterator[tuple[int, str]]:
        parts = list(enumerate(self._parts(queue)))
        first = next(self._rounds) % len(parts)
        yield from parts[first:] + parts[:first]

    def _marked(self, queue: str, place: int, message: Message) -> Message:
        return replace(message, id=f"{place}{_BETWEEN}{message.id}") if queue in self._partitions else message

    def _holder(self, queue: str, message_id: str) -> tuple[str, str]:
        """The queue beneath, and the id there."""
        parts = self._parts(queue)
        if queue not in self._partitions:
            return queue, message_id
        place, _, inner = message_id.partition(_BETWEEN)
        if not (place.isascii() and place.isdigit() and int(place) < len(parts)):
            raise Lost(f"message {message_id} is not of {queue}")
        return parts[int(place)], inner

    def _deleted(self, part: str) -> bool:
        try:
            self._queues.delete_queue(part)
        except NotFound:
            return False
        return True
