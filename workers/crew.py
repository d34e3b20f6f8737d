"""The dequeue tasks of a process: more while there is much to do, one while there is little, none while it sleeps."""

import contextvars
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from shared.errors import MatineeError
from workers.backoff import Backoff
from workers.listener import Listener, Look
from workers.news import Tell, WorkDetected
from workers.scaling import Rules
from workers.turns import Turns


@dataclass(frozen=True, kw_only=True)
class State:
    """What a process is doing: tickets waiting (None if the store does not say), tickets at work, dequeue tasks."""

    depth: int | None
    at_work: int
    tasks: int


class Crew:
    """Threads that take turns at one listener.

    Each polls, waits longer after each empty poll (workers/backoff.py), and at the longest wait ends, all but one of
    them; the last too where the queues are empty, tickets not visible yet included, and `may_sleep` says that whatever
    came since its poll began (`time.monotonic`) would have been called. Work seen after idling starts as many
    as the rules say for the depth. A poll that failed is no empty one: nobody ends on it.
    """

    def __init__(
        self,
        listener: Listener,
        rules: Callable[[], Rules],
        tell: Tell,
        *,
        may_sleep: Callable[[float], bool] = lambda _: False,
    ) -> None:
        self.failed = threading.Event()
        """Set when a task ended by an error: the process had better be started afresh."""
        self._listener = listener
        self._rules = rules
        self._tell = tell
        self._may_sleep = may_sleep
        self._context = contextvars.copy_context()  # what lines of the log are bound to, whoever starts a task
        self._changed = threading.Condition()
        self._tasks: set[threading.Thread] = set()
        self._at_work = 0
        self._calls = 0
        self._resting = True
        self._largest = 0

    def start(self) -> None:
        self._top_up(1)

    def drain(self) -> None:
        """No more tickets are taken; each task ends after what it has in hand."""
        self._listener.draining.set()
        with self._changed:
            self._changed.notify_all()

    def is_busy(self) -> bool:
        """Whether any task is left."""
        with self._changed:
            return bool(self._tasks)

    def is_all_at_work(self) -> bool:
        """Whether every task there may be has tickets in hand, so that none could heed a call."""
        with self._changed:
            return self._at_work >= max(len(self._tasks), self._rules().most())

    def is_asleep(self) -> bool:
        with self._changed:
            return not self._tasks

    def rouse(self, queue: str | None = None, *, count: int = 1, size: int = 0) -> None:
        """Somebody says that there is work, of `count` tickets of `size` bytes; or that one should look for it."""
        if queue is not None and self._wakes_up(size):
            self._tell(WorkDetected(queue=queue, waiting=count))
        with self._changed:
            self._calls += 1
            self._changed.notify(count)
        self._top_up(self._rules().tasks(count, size))

    def look_again(self) -> None:
        """One that sleeps polls for a while, for it may have missed a call."""
        if self.is_asleep():
            self._top_up(1)

    def look_at_depth(self) -> None:
        """While there is work and room for more tasks: as many as the rules say for what waits."""
        rules = self._rules()
        with self._changed:
            enough = not self._tasks or self._resting or len(self._tasks) >= rules.most()
        if not enough:
            depth = self._depth()
            if depth is not None:
                self._top_up(rules.tasks(depth, self._largest))

    def tasks(self) -> int:
        with self._changed:
            return len(self._tasks)

    def state(self) -> State:
        return State(depth=self._depth(), at_work=self._listener.at_work(), tasks=self.tasks())

    def _top_up(self, wanted: int) -> None:
        """Only what is lacking is started."""
        with self._changed:
            if self._listener.draining.is_set():
                return
            for _ in range(wanted - len(self._tasks)):
                context = self._context.copy()
                task = threading.Thread(target=context.run, args=(self._go_round,), name="task", daemon=True)
                self._tasks.add(task)
                task.start()

    def _go_round(self) -> None:
        try:
            self._poll()
        except BaseException:
            structlog.get_logger().exception("a dequeue task died")
            self.failed.set()
            raise
        finally:
            with self._changed:
                self._tasks.discard(threading.current_thread())

    def _poll(self) -> None:
        settings = self._listener.services.settings
        turns, backoff = Turns(self._listener.queues), Backoff(settings.idle_min, settings.idle_max)
        while not self._listener.draining.is_set():
            heard, began = self._calls, time.monotonic()
            look = self._listener.step(turns, self._saw_work)
            if look is Look.WORK:
                self._finished_work()
                backoff.reset()
                continue
            if look is Look.NOTHING and self._rests() and backoff.is_at_ceiling and self._ends(heard, began):
                return
            if self._is_roused(heard, within=backoff.next()):
                backoff.reset()

    def _saw_work(self, queue: str, size: int) -> None:
        """Told before it is worked, so that others start beside it."""
        with self._changed:
            self._at_work += 1
        if self._wakes_up(size):
            depth = self._depth() if self._rules().most() > 1 else None
            self._tell(WorkDetected(queue=queue, waiting=depth))
            if depth is not None:
                self._top_up(self._rules().tasks(depth, size))

    def _wakes_up(self, size: int) -> bool:
        with self._changed:
            rested, self._resting = self._resting, False
            self._largest = size if rested else max(size, self._largest)
            return rested

    def _finished_work(self) -> None:
        with self._changed:
            self._at_work -= 1

    def _rests(self) -> bool:
        with self._changed:
            self._resting = True
        return True

    def _ends(self, heard: int, began: float) -> bool:
        """Whether this task ends; decided for one at a time, so that one is left where one must be.

        A call that came since the poll began (`heard` were before it) may be of a ticket that the poll missed.
        """
        with self._changed:
            is_last = len(self._tasks) <= 1
        may_sleep = is_last and self._may_sleep(began) and self._depth() == 0
        with self._changed:
            if self._calls != heard or (len(self._tasks) <= 1 and not may_sleep):
                return False
            self._tasks.discard(threading.current_thread())
            return True

    def _is_roused(self, heard: int, *, within: float) -> bool:
        """Wait so many seconds for a call."""
        with self._changed:
            if self._calls != heard:
                return True
            if self._listener.draining.is_set():
                return False
            return self._changed.wait(within)

    def _depth(self) -> int | None:
        try:
            return self._listener.depth()
        except MatineeError as error:
            structlog.get_logger().warning("depth not known", reason=str(error))
            return None
