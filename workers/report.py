"""What a worker process says of itself to the others of its machine: its pool, its tasks, its tickets, its record."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import msgspec

from workers.news import News, Settled
from workers.scratch import living


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """`tasks` are its dequeue tasks, `tickets` those at work now; the rest is since it started.

    `done`, `retried` and `set_aside` count tickets settled, `seconds` is what trying them took, by kind; `operations`
    are those it asked of the storage.
    """

    pid: int
    pool: str
    queues: tuple[str, ...]
    started: datetime
    tasks: int
    tickets: tuple[str, ...]
    done: int = 0
    retried: int = 0
    set_aside: int = 0
    tries: dict[str, int] = {}
    seconds: dict[str, float] = {}
    operations: int = 0


class Tally:
    """A watcher that counts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.outcomes: Counter[str] = Counter()
        self.tries: Counter[str] = Counter()
        self.seconds: dict[str, float] = {}

    def __call__(self, news: News) -> None:
        if isinstance(news, Settled):
            with self._lock:
                self.outcomes[news.outcome] += 1
                self.tries[news.kind] += 1
                self.seconds[news.kind] = self.seconds.get(news.kind, 0.0) + news.seconds


def read_reports(root: Path) -> Iterator[Report]:
    """Of every worker process that lives, in the scratch folder `root` that they share."""
    for path in sorted(living(root)):
        with suppress(OSError, msgspec.MsgspecError):  # it ends at this moment, or has not said anything yet
            yield msgspec.json.decode(path.read_bytes(), type=Report)
