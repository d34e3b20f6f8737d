"""What the children say: each writes to its own file, which is kept small, and warnings are repeated on the terminal.

A child holds its file itself, so it can speak however the supervisor fares.
"""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

LARGEST = 10 * 1024**2
QUIET_FOR = 10.0
"""Seconds for which the same complaint is not repeated on the terminal."""

_LOUD = {"warning", "error", "critical"}
_GUNICORN = re.compile(r"\[[^\]]+\] \[\d+\] \[(WARNING|ERROR|CRITICAL)\] (.+)")
_ONLY_IN_THE_FILE = {"level", "timestamp", "event", "exception", "process", "pool"}


class Log:
    """One child's file: `opened` for the child to append to, `complaints` for what is new in it."""

    def __init__(self, path: Path, *, largest: int = LARGEST, clock: Callable[[], float] = time.monotonic) -> None:
        self.path = path
        self._largest = largest
        self._clock = clock
        self._read_to = path.stat().st_size if path.exists() else 0
        self._said: dict[str, float] = {}

    def opened(self) -> BinaryIO:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return self.path.open("ab")

    def complaints(self) -> list[str]:
        """The warnings and errors since the last call, one line each; also the moment the file is turned over."""
        if not self.path.exists():
            return []
        with self.path.open("rb") as file:
            file.seek(self._read_to)
            new = file.read()
        self._turn_over(whole := new[: new.rfind(b"\n") + 1])
        found = (complaint(line) for line in whole.decode(errors="replace").splitlines())
        return [line for line in found if line is not None and self._is_news(line)]

    def _turn_over(self, read: bytes) -> None:
        """Keep one old file. Emptied rather than renamed, as the child goes on appending to the one it holds."""
        self._read_to += len(read)
        if self._read_to < self._largest:
            return
        self.path.with_suffix(".log.1").write_bytes(self.path.read_bytes())
        with self.path.open("r+b") as file:
            file.truncate(0)
        self._read_to = 0

    def _is_news(self, line: str) -> bool:
        now = self._clock()
        last = self._said.get(line)
        if last is not None and now - last < QUIET_FOR:
            return False
        self._said = {said: at for said, at in self._said.items() if now - at < QUIET_FOR} | {line: now}
        return True


def complaint(line: str) -> str | None:
    """The line as a person reads it, if it is a warning or worse."""
    if found := _GUNICORN.match(line):
        return found.group(2)
    try:
        record = json.loads(line)
    except ValueError:
        return None
    if not isinstance(record, dict) or record.get("level") not in _LOUD:
        return None
    details = [f"{name}={value}" for name, value in record.items() if name not in _ONLY_IN_THE_FILE]
    last = str(record.get("exception", "")).strip().splitlines()[-1:]
    return " ".join([str(record.get("event", "")), *details, *last])[:300]
