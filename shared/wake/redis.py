"""The bus across machines: one Redis channel for each site; of those who hear a call the first few heed it."""

import random
import secrets
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import msgspec
import redis
import structlog

from shared.wake import PING_EVERY, TRUST_FOR, Call

_TIMEOUT = 0.05
"""Seconds a caller waits for Redis: it has a page to answer."""
_CLOSED = 1.0
"""Seconds in which nobody is called after Redis did not answer."""
_CLAIM_LIFE = 10
_EAR_TIMEOUT = 2.0
_RETRY = (0.1, 1.0)


class _Sent(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    call: Call


class RedisBus:
    def __init__(self, url: str) -> None:
        self._url = url
        self._client = redis.Redis.from_url(url, socket_timeout=_TIMEOUT, socket_connect_timeout=_TIMEOUT)
        self._closed_until = 0.0
        self._lock = threading.Lock()

    def call(self, call: Call) -> None:
        if time.monotonic() < self._closed_until:
            return
        sent = _Sent(id=secrets.token_hex(8), call=call)
        try:
            self._client.publish(_channel(call.account), msgspec.json.encode(sent))
        except redis.RedisError as error:
            with self._lock:
                self._closed_until = time.monotonic() + _CLOSED
            structlog.get_logger().warning("nobody called", queue=call.queue, reason=str(error))

    def ear(self, account: str, queues: Iterable[str]) -> "RedisEar":
        return RedisEar(self._url, account, queues)


class RedisEar:
    def __init__(self, url: str, account: str, queues: Iterable[str]) -> None:
        self._client = redis.Redis.from_url(url, socket_timeout=_EAR_TIMEOUT, socket_connect_timeout=_EAR_TIMEOUT)
        self._channel = _channel(account)
        self._own = f"{self._channel}:ear:{secrets.token_hex(8)}"
        self._queues = set(queues)
        self._heard: Any = None
        self._since: float | None = None
        self._pinged = 0.0
        self._answered = 0.0

    def wait(self, seconds: float) -> Call | None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            try:
                self._listen()
                call = self._next(min(left, PING_EVERY / 2))
            except redis.RedisError as error:
                structlog.get_logger().warning("the wake-up bus is away", reason=str(error))
                self.deafen()
                time.sleep(min(left, random.uniform(*_RETRY)))
                continue
            if call is not None:
                return call
        return None

    def deafen(self) -> None:
        if self._heard is not None:
            with suppress(redis.RedisError):
                self._heard.close()
        self._heard, self._since = None, None

    def heard_all_since(self, moment: float) -> bool:
        since = self._since
        return since is not None and since <= moment and self.is_trusted()

    def is_trusted(self) -> bool:
        return self._since is not None and time.monotonic() - self._answered < TRUST_FOR

    def close(self) -> None:
        self.deafen()
        with suppress(redis.RedisError):
            self._client.close()

    def _listen(self) -> None:
        now = time.monotonic()
        if self._heard is not None and now - self._answered > TRUST_FOR:
            self.deafen()
        if self._heard is None:
            self._heard = self._client.pubsub(ignore_subscribe_messages=True)  # type: ignore[no-untyped-call]
            self._heard.subscribe(self._channel, self._own)
            self._answered, self._pinged = now, 0.0
        if now - self._pinged >= PING_EVERY:
            self._pinged = now
            self._client.publish(self._own, b"ping")

    def _next(self, seconds: float) -> Call | None:
        message = self._heard.get_message(timeout=seconds)
        if message is None:
            return None
        if message["channel"] == self._own.encode():
            self._answered = time.monotonic()
            self._since = self._since or self._answered
            return None
        try:
            sent = msgspec.json.decode(message["data"], type=_Sent)
        except msgspec.MsgspecError:
            return None
        return sent.call if sent.call.queue in self._queues and self._is_ours(sent) else None

    def _is_ours(self, sent: _Sent) -> bool:
        """As many heed it as there are tickets, and one more: were it all, each ticket would be asked for by all."""
        claim = f"{self._channel}:claim:{sent.id}"
        with self._client.pipeline() as pipeline:
            pipeline.incr(claim)
            pipeline.expire(claim, _CLAIM_LIFE)
            place, _ = pipeline.execute()
        return int(place) <= sent.call.count + 1


def _channel(account: str) -> str:
    return f"matinee:{account}"
