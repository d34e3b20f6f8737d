"""A child process that is kept running: started again with growing pauses, told to stop, killed if it will not."""

import asyncio
import contextlib
import math
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from infra.logs import Log

LONGEST_PAUSE = 30.0
SETTLED_AFTER = 30.0
"""Seconds of life after which a child's earlier deaths are forgotten."""

_LOOK_EVERY = 0.5
_LEASH = str(Path(__file__).with_name("leash.py"))


class Child:
    """`sockets` are file descriptors it inherits. `pulse` gives, for its pid, a number that changes while it lives, or
    None until there is one; it is ended after `silence` seconds without a change.

    All its processes are in a session of their own, so that Ctrl-C reaches the supervisor alone and nothing of the
    child outlives it.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        log: Log,
        environment: Mapping[str, str],
        say: Callable[[str], None],
        *,
        sockets: Sequence[int] = (),
        folder: Path,
        may_start: Callable[[], bool] = lambda: True,
        pulse: Callable[[int], float | None] = lambda _: None,
        silence: float = math.inf,
    ) -> None:
        self.name = name
        self.log = log
        self._command = [sys.executable, "-SEP", _LEASH, str(os.getpid()), *command]
        self._environment = environment
        self._say = say
        self._sockets = sockets
        self._folder = folder
        self._may_start = may_start
        self._pulse = pulse
        self._silence = silence
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = asyncio.Event()
        self._deaths = 0

    @property
    def pid(self) -> int | None:
        """None while it is not running."""
        running = self._process is not None and self._process.returncode is None
        return self._process.pid if self._process is not None and running else None

    @property
    def is_ending(self) -> bool:
        """Whether it was told to stop."""
        return self._stopping.is_set()

    async def keep(self) -> None:
        """Returns once it was told to stop and is gone, or has ended and may not start again."""
        while not self._stopping.is_set() and self._may_start():
            started = time.monotonic()
            try:
                ended = _how(await self._run())
            except OSError as error:  # no memory or no files left: the next try may find some
                ended = f"could not be started ({error})"
            if not self._stopping.is_set():
                await self._pause(ended, time.monotonic() - started)

    def stop(self) -> None:
        """Ask it to finish what is in hand and end."""
        self._stopping.set()
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        self._stopping.set()
        self._signal(signal.SIGKILL)

    async def _run(self) -> int:
        with self.log.opened() as output:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=self._environment,
                cwd=self._folder,
                pass_fds=self._sockets,
                start_new_session=True,
            )
        if self._stopping.is_set():
            self._signal(signal.SIGTERM)
        watching = asyncio.create_task(self._watch_pulse(self._process.pid))
        code = await self._process.wait()
        watching.cancel()
        self._clear_away(self._process.pid)
        return code

    async def _watch_pulse(self, pid: int) -> None:
        """End it when its pulse has not changed for too long: frozen, it would hold up a whole queue without dying."""
        loop = asyncio.get_running_loop()
        last, since = None, loop.time()
        while True:
            await asyncio.sleep(_LOOK_EVERY)
            now = self._pulse(pid)
            if now is None or now != last:
                last, since = now, loop.time()
            elif loop.time() - since > self._silence:
                self._say(f"{self.name} showed no sign of life for {self._silence:g} s and is ended")
                self._clear_away(pid)
                return

    async def _pause(self, ended: str, lived: float) -> None:
        self._deaths = 1 if lived > SETTLED_AFTER else self._deaths + 1
        pause = min(LONGEST_PAUSE, 0.25 * 2**self._deaths)
        self._say(f"{self.name} {ended}; starting it again in {pause:g} s (see {self.log.path})")
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), pause)

    def _signal(self, number: int) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(number)

    def _clear_away(self, session: int) -> None:
        """End what a child that died left of its own processes; a gunicorn worker outlives its killed master."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(session, signal.SIGKILL)


class Children:
    """All there are: each kept running until it is told to stop, and forgotten once it has."""

    def __init__(self) -> None:
        self._keepers: dict[Child, asyncio.Task[None]] = {}

    def __iter__(self) -> Iterator[Child]:
        return iter(list(self._keepers))

    def start(self, child: Child) -> None:
        self._keepers[child] = asyncio.create_task(child.keep())

    def forget_ended(self) -> None:
        """Those that were told to stop, and have; whoever reads what they said should have read it by now."""
        for child, keeper in list(self._keepers.items()):
            if child.is_ending and keeper.done():
                del self._keepers[child]

    def stop(self) -> None:
        for child in self:
            child.stop()

    def kill(self) -> None:
        for child in self:
            child.kill()

    async def ended(self) -> Literal[True]:
        """Once all of them are gone."""
        await asyncio.gather(*self._keepers.values())
        return True


def _how(code: int) -> str:
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"
