"""Queues whose senders call: whatever becomes visible at once is told to the bus once it is there."""

from datetime import timedelta
from typing import Any

from shared.queues import MAX_TTL, Message, Queues
from shared.tickets import QUEUES
from shared.wake import Bus, Call


class WakingQueues:
    """Over the queues as callers name them. A ticket sent to wait calls as well: who hears it polls until it is due."""

    def __init__(self, queues: Queues, bus: Bus, account: str) -> None:
        self._queues = queues
        self._bus = bus
        self._account = account

    def __getattr__(self, operation: str) -> Any:
        return getattr(self._queues, operation)

    def send(
        self, queue: str, body: str, *, delay: timedelta = timedelta(0), ttl: timedelta = MAX_TTL
    ) -> Message:
        sent = self._queues.send(queue, body, delay=delay, ttl=ttl)
        self._call(queue, len(body))
        return sent

    def update(
        self, queue: str, message_id: str, receipt: str, *, visibility: timedelta, body: str | None = None
    ) -> str:
        fresh = self._queues.update(queue, message_id, receipt, visibility=visibility, body=body)
        if body is not None:  # given back, not only kept for longer
            self._call(queue, len(body))
        return fresh

    def _call(self, queue: str, size: int) -> None:
        if queue in QUEUES:
            self._bus.call(Call(account=self._account, queue=queue, size=size))
