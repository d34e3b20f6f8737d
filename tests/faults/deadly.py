"""A real store that counts the calls made to it, and kills or freezes its process at the one it is told to."""

import os
import threading
from dataclasses import dataclass, field
from signal import SIGKILL, Signals
from typing import Any, Literal

When = Literal["before", "after"]


@dataclass
class Trap:
    """Counts calls over all stores of a process; `when` says on which side of call `number` the signal comes.

    Only the thread that set the trap counts: how many ranges ffmpeg reads through the loopback server is its affair.
    """

    number: int = 0
    when: When = "before"
    signal: Signals = SIGKILL
    calls: list[str] = field(default_factory=list)
    thread: int = field(default_factory=threading.get_ident)

    def enter(self, call: str) -> None:
        self.calls.append(call)
        if self.when == "before":
            self._spring()

    def leave(self) -> None:
        if self.when == "after":
            self._spring()

    def _spring(self) -> None:
        if len(self.calls) == self.number:
            os.kill(os.getpid(), self.signal)


class Deadly:
    def __init__(self, store: Any, name: str, trap: Trap) -> None:
        self._store = store
        self._name = name
        self._trap = trap

    def __getattr__(self, operation: str) -> Any:
        call = getattr(self._store, operation)

        def called(*args: Any, **kwargs: Any) -> Any:
            if threading.get_ident() != self._trap.thread:
                return call(*args, **kwargs)
            self._trap.enter(f"{self._name}.{operation}({', '.join(map(_short, args))})")
            try:
                return call(*args, **kwargs)
            finally:
                self._trap.leave()

        return called


def _short(value: object) -> str:
    return repr(value)[:60]
