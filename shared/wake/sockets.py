"""The bus of one machine: each ear binds a datagram socket in its queue's folder, and callers send to some of them."""

import hashlib
import os
import random
import secrets
import select
import socket
import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from shared.wake import PING_EVERY, TRUST_FOR, Call

_LONGEST_PATH = 107
"""Bytes a socket's address may have: sun_path of unix(7), less the zero at its end."""
_LONGEST_NAME = 40
"""Of a queue and of an ear in it."""
_PING = b"ping"
_DATAGRAM = 512
_TRIES = 8


class SocketBus:
    """`folder` is shared by all processes of the site on this machine; where its path is too long, one in /tmp is."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder if len(os.fsencode(folder)) + _LONGEST_NAME <= _LONGEST_PATH else _short(folder)
        self._chance = random.Random()

    def call(self, call: Call) -> None:
        datagram = msgspec.json.encode(call)
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            ears = list((self._folder / call.queue).iterdir())
            self._chance.shuffle(ears)
            told = 0
            for ear in ears[: call.count + _TRIES]:
                told += _send(sender, datagram, ear)
                if told > call.count:
                    return

    def ear(self, account: str, queues: Iterable[str]) -> "SocketEar":
        del account  # the folder is of one site
        return SocketEar(self._folder, queues)


class SocketEar:
    def __init__(self, folder: Path, queues: Iterable[str]) -> None:
        self._folder = folder
        self._queues = list(queues)
        self._sockets: list[socket.socket] = []
        self._calls: deque[Call] = deque()
        self._since: float | None = None
        self._pinged = 0.0
        self._answered = 0.0

    def wait(self, seconds: float) -> Call | None:
        until = time.monotonic() + seconds
        while not self._calls:
            now = time.monotonic()
            self._listen(now)
            left = until - now
            if left <= 0:
                return None
            self._hear(min(left, PING_EVERY / 2))
        return self._calls.popleft()

    def deafen(self) -> None:
        for bound in self._sockets:
            with suppress(OSError):
                Path(os.fsdecode(bound.getsockname())).unlink()
            bound.close()
        self._sockets, self._since = [], None
        self._calls.clear()

    def heard_all_since(self, moment: float) -> bool:
        since = self._since
        return since is not None and since <= moment and self.is_trusted()

    def is_trusted(self) -> bool:
        return self._since is not None and time.monotonic() - self._answered < TRUST_FOR

    def close(self) -> None:
        self.deafen()

    def _listen(self, now: float) -> None:
        """Bind where it is not bound, and call itself now and then: by its address, as others would."""
        if self._sockets and now - self._pinged < PING_EVERY:
            return
        if self._sockets and now - self._answered > TRUST_FOR:
            self.deafen()  # somebody removed the sockets, perhaps with their folder
        try:
            if not self._sockets:
                self._bind()
                self._answered = now
            self._pinged = now
            _ping(self._sockets)
        except OSError:
            time.sleep(0.05)

    def _bind(self) -> None:
        for queue in self._queues:
            place = self._folder / queue
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            bound = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            self._sockets.append(bound)
            bound.setblocking(False)
            bound.bind(os.fsencode(place / f"{os.getpid()}-{secrets.token_hex(4)}"))

    def _hear(self, seconds: float) -> None:
        if not self._sockets:
            time.sleep(seconds)
            return
        ready, _, _ = select.select(self._sockets, [], [], seconds)
        for bound in ready:
            with suppress(OSError, msgspec.MsgspecError):
                datagram = bound.recv(_DATAGRAM)
                if datagram == _PING:
                    self._answered = time.monotonic()
                    self._since = self._since or self._answered
                else:
                    self._calls.append(msgspec.json.decode(datagram, type=Call))


def _ping(sockets: list[socket.socket]) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.setblocking(False)
        for bound in sockets:
            with suppress(BlockingIOError):  # so many calls wait to be heard that there is no room for another
                sender.sendto(_PING, bound.getsockname())


def _send(sender: socket.socket, datagram: bytes, ear: Path) -> bool:
    try:
        sender.sendto(datagram, os.fsencode(ear))
    except ConnectionRefusedError:  # its process died
        ear.unlink(missing_ok=True)
        return False
    except BlockingIOError:  # it has more calls than it can hear
        return True
    except OSError:
        return False
    return True


def _short(folder: Path) -> Path:
    """Of this user alone. Raises PermissionError where somebody else has taken its name."""
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]
    short = Path(f"/tmp/matinee-{os.getuid()}-{digest}")
    short.mkdir(mode=0o700, exist_ok=True)
    if short.lstat().st_uid != os.getuid() or short.is_symlink():
        raise PermissionError(f"{short} belongs to somebody else")
    return short
