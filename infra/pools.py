"""The worker pools, as infra/pools.toml says: what each serves, and how many processes it may have."""

import os
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.scaling.rules import NAMES, Rule, read_rule
from shared.errors import Invalid
from shared.queues import MAX_BATCH
from shared.settings import Settings
from workers.scaling import read_rules

POOLS = Path(__file__).with_name("pools.toml")
_KNOWN = {"queues", "tasks", "batch", *NAMES}


@dataclass(frozen=True, kw_only=True)
class Pool:
    name: str
    queues: Mapping[str, int]
    batch: int
    rule: Rule
    file: Path

    @property
    def processes(self) -> int:
        """How many it begins with."""
        return self.rule.floor

    def command(self) -> list[str]:
        queues = [f"{queue}={weight}" for queue, weight in self.queues.items()]
        command = [sys.executable, "-m", "workers.pool", self.name, *queues]
        return [*command, "--rules", str(self.file), "--batch", str(self.batch)]

    def process_name(self, number: int) -> str:
        """Of its process `number`, from 1."""
        return self.name if self.rule.ceiling == 1 else f"{self.name}-{number}"

    def commands(self) -> Iterator[tuple[str, list[str]]]:
        """(name of the process, command) for each of the processes it begins with."""
        for number in range(1, self.processes + 1):
            yield self.process_name(number), self.command()


def pools_file(settings: Settings) -> Path:
    return Path(settings.pools).resolve() if settings.pools else POOLS


def read_pools(path: Path = POOLS, *, cores: int | None = None) -> list[Pool]:
    """Raises Invalid, naming the file and the pool, for what cannot be understood."""
    cores = cores or os.cpu_count() or 1
    try:
        tables = tomllib.loads(path.read_text())
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Invalid(f"{path} is not TOML: {error}") from None
    return [_pool(path, name, table, cores) for name, table in tables.items()]


class PoolsFile:
    """The pools in a file that may change while we run; a file with a mistake is told of, and the old pools stay."""

    def __init__(self, path: Path, say: Callable[[str], None]) -> None:
        """Raises Invalid for a file that is wrong from the start."""
        self._path = path
        self._say = say
        self._seen = self._state()
        self._pools = read_pools(path)

    def current(self) -> list[Pool]:
        state = self._state()
        if state != self._seen:
            self._seen = state
            self._take_over()
        return self._pools

    def _take_over(self) -> None:
        try:
            self._pools = read_pools(self._path)
        except Invalid as error:
            self._say(f"{error}. The pools stay as they were.")
        else:
            self._say(f"The pools are now as {self._path} says.")

    def _state(self) -> tuple[int, ...] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


def _check_names(table: Mapping[str, Any]) -> None:
    if unknown := sorted(set(table) - _KNOWN):
        raise Invalid(f"nobody knows {' and '.join(unknown)}; there are {', '.join(sorted(_KNOWN))}")


def _queues(found: object) -> dict[str, int]:
    if not isinstance(found, dict) or not found:
        raise Invalid(f"queues are names with their weights, such as {{ high = 6, low = 1 }}, not {found!r}")
    for queue, weight in found.items():
        if not isinstance(weight, int) or isinstance(weight, bool) or weight < 1:
            raise Invalid(f"the weight of the queue {queue} is a whole number from 1, not {weight!r}")
    return found


def _batch(found: object) -> int:
    if not isinstance(found, int) or isinstance(found, bool) or not 1 <= found <= MAX_BATCH:
        raise Invalid(f"batch is a whole number from 1 to {MAX_BATCH}, not {found!r}")
    return found


def _pool(path: Path, name: str, table: dict[str, Any], cores: int) -> Pool:
    try:
        _check_names(table)
        queues, batch = _queues(table["queues"]), _batch(table.get("batch", 1))
        slots = read_rules(table["tasks"]).most() * batch
        rule = read_rule(table, slots=slots, cores=cores)
        return Pool(name=name, queues=queues, batch=batch, rule=rule, file=path)
    except Invalid as error:
        raise Invalid(f"{path}: pool {name!r}: {error}") from None
    except (KeyError, TypeError, ValueError) as error:
        raise Invalid(f"{path}: pool {name!r} needs queues, tasks, and how many processes ({error})") from None
