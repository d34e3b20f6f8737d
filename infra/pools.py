"""The worker processes of one machine, as infra/pools.toml says."""

import os
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shared.errors import Invalid
from workers.scaling import read_rules

POOLS = Path(__file__).with_name("pools.toml")


@dataclass(frozen=True, kw_only=True)
class Pool:
    name: str
    queues: dict[str, int]
    processes: int
    batch: int
    file: Path

    def commands(self) -> Iterator[tuple[str, list[str]]]:
        """(name of the process, command) for each of its processes."""
        queues = [f"{queue}={weight}" for queue, weight in self.queues.items()]
        command = [sys.executable, "-m", "workers.pool", self.name, *queues]
        command += ["--rules", str(self.file), "--batch", str(self.batch)]
        for number in range(1, self.processes + 1):
            yield (self.name if self.processes == 1 else f"{self.name}-{number}"), command


def read_pools(path: Path = POOLS, *, cores: int | None = None) -> list[Pool]:
    """Raises Invalid, naming the file and the pool, for what cannot be understood."""
    cores = cores or os.cpu_count() or 1
    try:
        tables = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise Invalid(f"{path} is not TOML: {error}") from None
    return [_pool(path, name, table, cores) for name, table in tables.items()]


def _pool(path: Path, name: str, table: dict[str, Any], cores: int) -> Pool:
    try:
        read_rules(table["tasks"])
        processes = table.get("processes") or max(1, cores // int(table["cores_per_process"]))
        batch = int(table.get("batch", 1))
        return Pool(name=name, queues=dict(table["queues"]), processes=int(processes), batch=batch, file=path)
    except Invalid as error:
        raise Invalid(f"{path}: pool {name!r}: {error}") from None
    except (KeyError, TypeError, ValueError) as error:
        needed = "queues, tasks, and processes or cores_per_process"
        raise Invalid(f"{path}: pool {name!r} needs {needed} ({error})") from None
