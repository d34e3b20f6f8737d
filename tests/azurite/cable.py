"""The way to an account, which a test may cut: connections break off and new ones are refused, until it is mended."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from tests.azurite.running import Account

_PIECE = 65536


class Cable:
    """`account` is the same account by addresses that lead through the cable."""

    def __init__(self, account: Account) -> None:
        self._loop = asyncio.new_event_loop()
        self._servers: dict[str, asyncio.Server] = {}
        self._open: set[asyncio.StreamWriter] = set()
        self._behind = {kind: urlsplit(getattr(account, kind)).port for kind in ("blob", "queue", "table")}
        self._ports = dict.fromkeys(self._behind, 0)
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self.mend()
        addresses = {kind: f"http://127.0.0.1:{port}/{account.name}" for kind, port in self._ports.items()}
        self.account = Account(name=account.name, **addresses)

    def cut(self) -> None:
        self._do(self._cut())

    def mend(self) -> None:
        self._do(self._mend())

    def end(self) -> None:
        self.cut()
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _do(self, work: object) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)  # type: ignore[arg-type]

    async def _cut(self) -> None:
        for server in self._servers.values():
            server.close()
        for writer in self._open:
            writer.transport.abort()
        self._open.clear()

    async def _mend(self) -> None:
        for kind, port in self._ports.items():
            server = await asyncio.start_server(self._handler(kind), "127.0.0.1", port)
            self._servers[kind] = server
            self._ports[kind] = server.sockets[0].getsockname()[1]

    def _handler(self, kind: str):
        async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            there, back = await asyncio.open_connection("127.0.0.1", self._behind[kind])
            self._open |= {writer, back}
            await asyncio.gather(_pass(reader, back), _pass(there, writer))
            self._open -= {writer, back}

        return carry


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()
    with suppress(OSError):
        writer.close()


@contextmanager
def cable(account: Account) -> Iterator[Cable]:
    laid = Cable(account)
    try:
        yield laid
    finally:
        laid.end()
