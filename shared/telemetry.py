"""What the system says about itself: structured logs, and a count of every storage operation by kind and caller."""

import logging
import sys
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TextIO, cast

import structlog

from shared.bill import Prices


def configure_logging(level: str, **bound: Any) -> None:
    """JSON lines on standard error, each with the fields given here (the kind of process, the pool)."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.WriteLoggerFactory(cast(TextIO, _Forgiving(sys.stderr))),
        cache_logger_on_first_use=False,
    )
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(**bound)


class _Forgiving:
    """A line that cannot be written (the disk is full, the terminal gone) is lost; the work it tells of goes on."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> None:
        with suppress(OSError):
            self._file.write(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._file.flush()


Count = Callable[[str, str], None]
"""Told of each operation: the kind of store, and what was asked of it."""
_ASKS_NOTHING = {"signed_url", "block_address", "browser_origin", "check_signature"}
"""Worked out where it is called."""


class Meter:
    """Counts of storage operations ("storage transactions") by (store, operation, caller); one for each process."""

    def __init__(self, caller: str) -> None:
        self.caller = caller
        self._counts: Counter[tuple[str, str, str]] = Counter()
        self._lock = threading.Lock()
        self._also: Callable[[str, str, str], None] = lambda *_: None

    def tell_also(self, count: Callable[[str, str, str], None]) -> None:
        """From now on another counts too: it is told the store, the operation, the caller."""
        self._also = count

    def count(self, store: str, operation: str) -> None:
        with self._lock:
            self._counts[store, operation, self.caller] += 1
        self._also(store, operation, self.caller)

    def counts(self) -> dict[tuple[str, str, str], int]:
        with self._lock:
            return dict(self._counts)

    def operations(self) -> dict[tuple[str, str], int]:
        """The same without the caller, as a bill wants it."""
        return {(store, operation): count for (store, operation, _), count in self.counts().items()}

    def total(self) -> int:
        return sum(self.counts().values())


def tell(meter: Meter, prices: Prices) -> dict[str, Any]:
    """For a process's last words: what it asked of the storage, and what that may have cost, in US dollars."""
    asked = meter.operations()
    return {
        "operations": {f"{store} {operation}": count for (store, operation), count in sorted(asked.items())},
        "estimated_cost": round(prices.cost(asked), 6),
    }


class Metered:
    """A store whose every call that asks something of it is counted before it is made."""

    def __init__(self, store: Any, name: str, count: Count) -> None:
        self._store = store
        self._name = name
        self._count = count

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        call = getattr(self._store, operation)
        if operation.startswith("_") or operation in _ASKS_NOTHING or not callable(call):
            return call  # type: ignore[no-any-return]

        def counted(*args: Any, **kwargs: Any) -> Any:
            self._count(self._name, operation)
            return call(*args, **kwargs)

        return counted
