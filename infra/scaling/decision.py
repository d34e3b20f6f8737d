"""How many processes a pool should have: more as soon as what waits asks for it, fewer once they were enough a while.

The load is counted in tickets that must be worked on at the same time (erlangs): those that wait, spread over the time
they may still take; and beside them the steady stream with head-room, or those at work, as far as these keep their
processes from what waits.
"""

import math
from dataclasses import dataclass

from infra.scaling.history import History, Reading
from infra.scaling.rules import Rule

STALE = 60.0
"""Seconds after which a look is too old to go by."""
_AT_LEAST = 1 / 4
"""Of the target: what is late already is hurried, not worked off at once."""
_FEWER = 1.1
"""Fewer processes must be enough for a load so much larger, or two sizes would take turns at their border."""
_SHORTEST = 60.0
"""Seconds that arrivals are looked back on, at least."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """So many processes, and a sentence for people."""

    size: int
    why: str


def decide(rule: Rule, history: History, now: float) -> Decision:
    """Between floor and ceiling, but for processes at work above it, which are never given up for a number."""
    last = history.last
    if last is None:
        return Decision(size=rule.floor, why="nothing is known yet")
    if last.visible is None or last.hidden is None or now - last.at > STALE:
        return Decision(size=max(rule.floor, last.size), why="the queues could not be read, so it stays as it is")
    load = _Load(rule, history, now)
    wanted = _bounded(rule, load.needs(last))
    if wanted > last.size:
        return _more(rule, last, wanted)
    return _fewer(rule, history, load, now)


def _more(rule: Rule, last: Reading, wanted: int) -> Decision:
    size = max(rule.floor, min(wanted, last.size + _room(rule, last)))
    waiting = "1 ticket waits" if last.visible == 1 else f"{last.visible} tickets wait"
    if last.oldest is not None:
        waiting += f", the oldest for {last.oldest:.0f} s"
    if size < wanted:
        return Decision(size=size, why=f"{waiting}, but the processor is {last.cpu or 0:.0%} busy")
    return Decision(size=size, why=f"{waiting}; {rule.target:g} s are what that may take")


def _fewer(rule: Rule, history: History, load: "_Load", now: float) -> Decision:
    last = history.readings[-1]
    enough = max(_enough(rule, history, load, now), last.most_at_work)
    if enough >= last.size:
        return Decision(size=last.size, why="as many as are needed")
    if last.size > rule.ceiling:
        return Decision(size=max(enough, min(last.size, rule.ceiling)), why=f"no more than {rule.ceiling} are allowed")
    if not history.covers(now - rule.cool_down):
        return Decision(size=last.size, why=f"fewer must be enough for {rule.cool_down:g} s first")
    return Decision(size=enough, why=f"fewer were enough for {rule.cool_down:g} s")


def _enough(rule: Rule, history: History, load: "_Load", now: float) -> int:
    """The most that were needed at any time of the cool-down; a look that failed may have been of any need."""
    looks = history.since(now - rule.cool_down)
    if any(one.visible is None for one in looks):
        return rule.ceiling
    return max((_bounded(rule, load.needs(one, _FEWER)) for one in looks), default=rule.ceiling)


def _bounded(rule: Rule, size: int) -> int:
    return min(max(size, rule.floor), rule.ceiling)


class _Load:
    """How many processes it takes, by what the whole history tells of one ticket and of the stream."""

    def __init__(self, rule: Rule, history: History, now: float) -> None:
        self._rule = rule
        self._service = history.service(rule.service)
        rate = history.rate(now, max(rule.cool_down, _SHORTEST))
        self._stream = rate * self._service * (1 + rule.headroom)

    def needs(self, look: Reading, slack: float = 1.0) -> int:
        """For what was there at that look."""
        left = max(self._rule.target - (look.oldest or 0.0), self._rule.target * _AT_LEAST)
        waiting = look.visible or 0
        backlog = min(waiting * self._service / left, waiting)
        at_work = min(look.hidden or 0, look.size * self._rule.slots) * min(1.0, self._service / left)
        load = max((backlog + self._stream) * slack, backlog + at_work)
        return math.ceil(load / self._rule.slots - 1e-9)


def _room(rule: Rule, last: Reading) -> int:
    """How many more the processor has room for. The first of a pool is always started."""
    if rule.cpu_below is None or last.cpu is None:
        return rule.ceiling
    spare = (rule.cpu_below - last.cpu) * rule.cores
    most = max(1, int(spare / rule.cores_per_process)) if spare > 0 else 0
    return max(most, 0 if last.size else 1)
