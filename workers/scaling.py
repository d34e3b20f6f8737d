"""How many dequeue tasks a process should have for how much work: rules, read again when their file changes."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog

from shared.errors import Invalid

MOST_TASKS = 1000


@dataclass(frozen=True, kw_only=True)
class Rule:
    """So many `tasks` for fewer waiting tickets than `depth_below`, each smaller than `size_below` bytes."""

    tasks: int
    depth_below: int | None = None
    size_below: int | None = None

    def holds(self, depth: int, size: int) -> bool:
        return _is_below(depth, self.depth_below) and _is_below(size, self.size_below)


@dataclass(frozen=True)
class Rules:
    """The first rule that holds decides; the last holds always."""

    rules: Sequence[Rule]

    def tasks(self, depth: int, size: int = 0) -> int:
        return next(rule.tasks for rule in self.rules if rule.holds(depth, size))

    def most(self) -> int:
        return max(rule.tasks for rule in self.rules)


def fixed(tasks: int) -> Rules:
    """Whatever the depth; of several tasks all but one rest while there is nothing to do."""
    return read_rules(tasks)


def read_rules(found: object) -> Rules:
    """From TOML: a number of tasks, or a list of tables `{ tasks, depth_below, size_below }` whose last has no limit.

    Raises Invalid, saying what is wrong.
    """
    tables = [{"tasks": found}] if isinstance(found, int) else found
    if not isinstance(tables, list) or not tables:
        raise Invalid("tasks is a number, or a list of rules such as { depth_below = 100, tasks = 10 }")
    rules = [_rule(table) for table in tables]
    if rules[-1].depth_below is not None or rules[-1].size_below is not None:
        raise Invalid("the last rule must hold for any depth and size: it has only `tasks`")
    return Rules(rules)


def _rule(table: object) -> Rule:
    if not isinstance(table, Mapping) or not {"tasks"} <= set(table) <= {"tasks", "depth_below", "size_below"}:
        raise Invalid(f"a rule has `tasks`, and may have `depth_below` and `size_below` (bytes), not {table!r}")
    for name, value in table.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise Invalid(f"{name} is a whole number from 1, not {value!r}")
    if table["tasks"] > MOST_TASKS:
        raise Invalid(f"a process can have {MOST_TASKS} tasks at most, not {table['tasks']}")
    return Rule(**table)


def _is_below(value: int, limit: int | None) -> bool:
    return limit is None or value < limit


class RulesFile:
    """The `tasks` of one pool in a TOML file; a change is heeded at the next look, a mistake in it told and not."""

    def __init__(self, path: Path, pool: str) -> None:
        """Raises Invalid for a file that is wrong from the start."""
        self._path = path
        self._pool = pool
        self._seen = self._state()
        self._rules = self._read()

    def current(self) -> Rules:
        state = self._state()
        if state != self._seen:
            self._seen = state
            self._take_over()
        return self._rules

    def _take_over(self) -> None:
        log = structlog.get_logger().bind(file=str(self._path), pool=self._pool)
        try:
            self._rules = self._read()
        except Invalid as error:
            log.warning("rules not taken over", reason=str(error))
        else:
            log.info("rules taken over", most=self._rules.most())

    def _state(self) -> tuple[int, ...] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _read(self) -> Rules:
        try:
            tables: dict[str, Any] = tomllib.loads(self._path.read_text())
            return read_rules(tables[self._pool]["tasks"])
        except OSError as error:
            raise Invalid(f"{self._path} cannot be read: {error.strerror}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise Invalid(f"{self._path} is not TOML: {error}") from None
        except (KeyError, TypeError):
            raise Invalid(f"{self._path} says nothing of the tasks of pool {self._pool!r}") from None
        except Invalid as error:
            raise Invalid(f"{self._path}: pool {self._pool!r}: {error}") from None
