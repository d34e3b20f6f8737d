"""Signals to end, one after another: each is noticed at once and none hides behind another."""

import os
import select
import signal


class EndSignals:
    """SIGTERM and SIGINT from now on. Made in the main thread, once a process.

    Python calls a handler when the main thread next runs, and calls it once for two signals that came meanwhile; the
    system may well wake another thread. The wake-up descriptor gets a byte for each, in whatever thread it arrives.
    """

    def __init__(self) -> None:
        self._read, write = os.pipe()
        os.set_blocking(write, False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: None)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)

    def wait(self, seconds: float) -> bool:
        """Whether one came within that time; each is told of once."""
        ready, _, _ = select.select([self._read], [], [], seconds)
        if not ready:
            return False
        os.read(self._read, 1)
        return True
