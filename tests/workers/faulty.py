"""A real store whose calls fail when a test says so: before they take effect, or after (a reply that was lost)."""

from collections.abc import Callable
from typing import Any


class Faulty:
    def __init__(self, store: Any) -> None:
        self._store = store
        self._faults: dict[str, list[Exception]] = {}
        self._lost_replies: dict[str, list[Exception]] = {}
        self._watchers: dict[str, Callable[[], None]] = {}

    def refuse(self, operation: str, error: Exception, *, times: int = 1) -> None:
        """The next calls fail and change nothing."""
        self._faults.setdefault(operation, []).extend([error] * times)

    def lose_reply(self, operation: str, error: Exception) -> None:
        """The next call takes effect, and yet fails."""
        self._lost_replies.setdefault(operation, []).append(error)

    def before(self, operation: str, call: Callable[[], None]) -> None:
        """Run `call` once, just before the next call of an operation: what another process does in between."""
        self._watchers[operation] = call

    def heal(self) -> None:
        self._faults.clear()

    def __getattr__(self, operation: str) -> Any:
        call = getattr(self._store, operation)

        def called(*args: Any, **kwargs: Any) -> Any:
            watcher = self._watchers.pop(operation, None)
            if watcher is not None:
                watcher()
            if self._faults.get(operation):
                raise self._faults[operation].pop(0)
            result = call(*args, **kwargs)
            if self._lost_replies.get(operation):
                raise self._lost_replies[operation].pop(0)
            return result

        return called
