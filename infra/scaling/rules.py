"""What a pool may grow and shrink to, and how quickly: the numbers infra/pools.toml says, checked."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shared.errors import Invalid


@dataclass(frozen=True, kw_only=True)
class Rule:
    """`floor` and `ceiling` in processes; times in seconds; `slots` are the tickets one process works on at a time.

    `target`: what waits is worked off within so long. `cool_down`: for so long fewer must have been enough before
    there are fewer. `headroom`: the share more than the steady load that is kept ready. `service`: how long a ticket
    takes, until that is measured. `cpu_below`: while more than this share of the machine is busy the pool does not
    grow; each process is taken to want `cores_per_process` of its `cores`.
    """

    floor: int
    ceiling: int
    slots: int
    target: float = 60.0
    cool_down: float = 120.0
    headroom: float = 0.25
    service: float = 5.0
    cpu_below: float | None = None
    cores: int = 1
    cores_per_process: int = 1

    @property
    def is_fixed(self) -> bool:
        return self.floor == self.ceiling


_NUMBERS = {"target": (1, 86_400), "cool_down": (0, 86_400), "headroom": (0, 10), "service": (0.001, 86_400)}
_SIZES = {"processes", "floor", "ceiling", "cores_per_process"}
NAMES = {*_NUMBERS, *_SIZES, "cpu_below"}


def read_rule(table: Mapping[str, Any], *, slots: int, cores: int) -> Rule:
    """The rule in a pool's table, on a machine of so many cores. Raises Invalid, saying what is wrong."""
    floor, ceiling = _bounds(table, cores)
    given = {name: _number(table, name, *limits) for name, limits in _NUMBERS.items() if name in table}
    if "cpu_below" in table:
        given["cpu_below"] = _number(table, "cpu_below", 0.01, 1)
    per_process = _whole(table, "cores_per_process", 1) if "cores_per_process" in table else 1
    return Rule(floor=floor, ceiling=ceiling, slots=slots, cores=cores, cores_per_process=per_process, **given)


def _bounds(table: Mapping[str, Any], cores: int) -> tuple[int, int]:
    if "processes" in table:
        if others := sorted(_SIZES & set(table) - {"processes"}):
            raise Invalid(f"processes is for a pool that never changes its size; it has no {' and no '.join(others)}")
        return (_whole(table, "processes", 1),) * 2
    limits = [_whole(table, "ceiling", 1)] if "ceiling" in table else []
    if "cores_per_process" in table:
        limits.append(max(1, cores // _whole(table, "cores_per_process", 1)))
    if not limits:
        raise Invalid("it needs processes, ceiling or cores_per_process")
    ceiling = min(limits)
    floor = _whole(table, "floor", 0) if "floor" in table else ceiling
    if floor > ceiling:
        raise Invalid(f"its floor ({floor}) is above its ceiling ({ceiling})")
    return floor, ceiling


def _whole(table: Mapping[str, Any], name: str, least: int) -> int:
    value = table[name]
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise Invalid(f"{name} is a whole number from {least}, not {value!r}")
    return value


def _number(table: Mapping[str, Any], name: str, least: float, most: float) -> float:
    value = table[name]
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not is_number or not least <= value <= most:
        raise Invalid(f"{name} is a number from {least:g} to {most:g}, not {value!r}")
    return float(value)
