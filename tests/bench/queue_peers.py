"""Our queue and workers beside Huey on SQLite and RQ, Dramatiq and Celery on Redis, all of them durable."""

from pathlib import Path

from infra.prepare.__main__ import main as prepare
from tests.bench.figure import Figure
from tests.bench.peers import idle, killed, saturation, throughput

_PARTS = {"throughput": throughput, "idle": idle, "killed": killed, "saturation": saturation}


def measure(folder: Path, *, quick: bool) -> list[Figure]:
    """Raises SystemExit where Redis is missing, or the others' libraries cannot be installed; it is said what to do."""
    if prepare(["peers", "redis"]) != 0:
        raise SystemExit(1)
    return [figure for name, part in _PARTS.items() for figure in part.measure(folder / name, quick=quick)]
