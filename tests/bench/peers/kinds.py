"""The queues compared, each with its own workers' command line; what is not said there is its default."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from infra.prepare import peers

Command = Sequence[str]

LEASE = 5
"""Seconds after which a dead worker's tickets are another's, for all that can be told; by default ours takes 30."""

_PYTHON = str(peers.PYTHON)
_APPS = "tests.bench.peers.apps"
_RQ = (_PYTHON, "-m", "rq.cli", "worker", "-q", "-c", f"{_APPS}.rq_settings", "bench")


@dataclass(frozen=True, kw_only=True)
class Kind:
    """How one queue is run; `workers` gives the commands of so many processes, each at work on one ticket at a time.

    `held` are questions to its Redis about tickets that are neither waiting nor done, each answered by a number.
    """

    name: str
    app: str
    workers: Callable[[int], list[Command]]
    in_redis: bool = True
    python: str = _PYTHON
    environment: Mapping[str, str] = field(default_factory=dict)
    held: Sequence[str] = ()

    @property
    def module(self) -> str:
        return f"{_APPS}.{self.app}"


def _ours(count: int) -> list[Command]:
    return [(sys.executable, "-m", f"{_APPS}.on_ours", "bench", "ingest=1")] * count


def _ours_batched(count: int) -> list[Command]:
    return [(*command, "--batch", "32") for command in _ours(count)]


def _huey(count: int) -> list[Command]:
    return [(_PYTHON, "-m", "huey.bin.huey_consumer", f"{_APPS}.on_huey.huey", "-w", str(count), "-k", "process", "-q")]


def _rq(count: int) -> list[Command]:
    """SimpleWorker forks for no ticket, so that the queue is measured and not the fork."""
    return [(*_RQ, "-w", "rq.SimpleWorker")] * count


def _rq_forking(count: int) -> list[Command]:
    return [_RQ] * count


def _rq_watchful(count: int) -> list[Command]:
    return [(*_RQ, "--maintenance-interval", str(LEASE), "--job-monitoring-interval", "1")] * count


def _dramatiq(count: int) -> list[Command]:
    return [(_PYTHON, "-m", "dramatiq", f"{_APPS}.on_dramatiq", "-p", str(count), "-t", "1")]


def _celery(count: int) -> list[Command]:
    return [(_PYTHON, "-m", "celery", "-A", f"{_APPS}.on_celery", "worker", "-c", str(count), "-l", "ERROR")]


OURS = Kind(name="Matinee", app="on_ours", workers=_ours, in_redis=False, python=sys.executable)
HUEY = Kind(name="Huey on SQLite", app="on_huey", workers=_huey, in_redis=False)
RQ = Kind(name="RQ", app="on_rq", workers=_rq, held=("ZCARD rq:wip:bench", "ZCARD rq:failed:bench"))
DRAMATIQ = Kind(name="Dramatiq", app="on_dramatiq", workers=_dramatiq, held=("HLEN dramatiq:default.msgs",))
CELERY = Kind(name="Celery", app="on_celery", workers=_celery, held=("HLEN unacked",))

COMPARED = (OURS, HUEY, RQ, DRAMATIQ, CELERY)
OURS_BATCHED = replace(OURS, name="Matinee, 32 at a time", workers=_ours_batched)
"""As a pool of light work would be set: each task takes a batch, works it side by side, deletes each by itself."""

_LATE = {"BENCH_LATE": str(LEASE)}
KILLED = (
    replace(OURS, name=f"Matinee, MATINEE_LEASE={LEASE}", environment={"MATINEE_LEASE": str(LEASE)}),
    replace(HUEY, name="Huey on SQLite, defaults"),
    replace(RQ, name="RQ, defaults", workers=_rq_forking),
    replace(RQ, name="RQ, retry=3 and eager maintenance", workers=_rq_watchful, environment=_LATE),
    replace(DRAMATIQ, name="Dramatiq, defaults"),
    replace(DRAMATIQ, name=f"Dramatiq, heartbeat_timeout {LEASE} s and constant maintenance", environment=_LATE),
    replace(CELERY, name="Celery, defaults"),
    replace(CELERY, name=f"Celery, acks_late and visibility_timeout {LEASE} s", environment=_LATE),
)
"""With defaults, and with what each offers against a worker's death."""
