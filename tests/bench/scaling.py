"""A simulated day of the transcode pool: ours beside a pool that never changes and beside one that follows its depth."""

from collections.abc import Callable
from pathlib import Path
from typing import cast

from infra.pools import Pool, read_pools
from infra.scaling.scaler import Scaler
from shared.queues import Queues
from shared.settings import Settings
from tests.bench.day import DAY, Outcome, Simulation, arrivals
from tests.bench.figure import Figure

CORES = 40
"""Two a process, so twenty processes at most."""
TICKETS_A_PROCESS = 5
"""What a depth rule commonly counts on, KEDA's for queues of an account among them."""
SEED = 20


def measure(_: Path, *, quick: bool) -> list[Figure]:
    lasting = DAY / 4 if quick else DAY
    [pool] = [pool for pool in read_pools(cores=CORES) if pool.name == "transcode"]
    ours, naive = _ours(pool, lasting), _naive(pool, lasting)
    size, fixed = _fixed_as_quick(pool, lasting, ours.waited(0.95))
    largest = _fixed(pool, lasting, pool.rule.ceiling)
    others = {f"always {size}": fixed, f"always {pool.rule.ceiling}": largest, "by depth": naive}
    return [*_waits(ours, others), _hours(ours, fixed, others), _against_depth(ours, naive), *_costs(ours, others)]


def _waits(ours: Outcome, others: dict[str, Outcome]) -> list[Figure]:
    return [
        Figure(
            figure=f"time in queue p{share:.0%}".rstrip("%"),
            value=round(ours.waited(share), 1),
            unit="s",
            against=_told(others, lambda one, share=share: f"{one.waited(share):.1f}"),  # type: ignore[misc]
        )
        for share in (0.5, 0.95, 0.99)
    ]


def _hours(ours: Outcome, fixed: Outcome, others: dict[str, Outcome]) -> Figure:
    return Figure(
        figure=f"worker-hours for {len(ours.waits):,} tickets",
        value=round(ours.worker_hours, 1),
        unit="h",
        against=_told(others, lambda one: f"{one.worker_hours:.1f}"),
        goal="fewer than the smallest pool that never changes whose p95 is no worse",
        met=ours.worker_hours < fixed.worker_hours,
    )


def _against_depth(ours: Outcome, naive: Outcome) -> Figure:
    return Figure(
        figure="tries given back unfinished",
        value=ours.given_back,
        unit="tries",
        against=f"by depth: {naive.given_back}; it changed {naive.changes} times, ours {ours.changes}",
        goal="none, and a p95 or worker-hours below those by depth",
        met=not ours.given_back
        and (ours.waited(0.95) < naive.waited(0.95) or ours.worker_hours < naive.worker_hours),
    )


def _costs(ours: Outcome, others: dict[str, Outcome]) -> list[Figure]:
    looks, everything = ours.transactions["looks"], sum(ours.transactions.values())
    return [
        Figure(
            figure="storage transactions of the pool",
            value=round(everything / 1000, 1),
            unit="thousand",
            against=_told(others, lambda one: f"{sum(one.transactions.values()) / 1000:,.0f}"),
        ),
        Figure(
            figure="of them looks by the scaler", value=round(looks / 1000, 1), unit="thousand",
            against=f"{looks / everything:.0%} of all",
        ),
    ]


def _told(others: dict[str, Outcome], tell: Callable[[Outcome], str]) -> str:
    return "; ".join(f"{name}: {tell(one)}" for name, one in others.items())


def _ours(pool: Pool, lasting: float) -> Outcome:
    simulation = Simulation(pool, Settings(), size=pool.rule.floor)
    scaler = Scaler(cast(Queues, simulation), simulation)
    return simulation.run(
        arrivals(SEED, lasting, list(pool.queues)), lambda now: scaler.look(pool, now.size(), now.told()).size
    )


def _naive(pool: Pool, lasting: float) -> Outcome:
    """As many processes as what waits asks for, at once, whatever is at work."""

    def wanted(now: Simulation) -> int:
        for queue in pool.queues:
            now.depth(queue)
        return min(max(pool.rule.floor, -(-now.waiting() // TICKETS_A_PROCESS)), pool.rule.ceiling)

    simulation = Simulation(pool, Settings(), size=pool.rule.floor, heeds_work=False)
    return simulation.run(arrivals(SEED, lasting, list(pool.queues)), wanted)


def _fixed(pool: Pool, lasting: float, size: int) -> Outcome:
    return Simulation(pool, Settings(), size=size).run(arrivals(SEED, lasting, list(pool.queues)), lambda _: size)


def _fixed_as_quick(pool: Pool, lasting: float, p95: float) -> tuple[int, Outcome]:
    """The smallest that never changes and makes tickets wait no longer, and its day."""
    low, high = 1, pool.rule.ceiling
    while low < high:
        middle = (low + high) // 2
        if _fixed(pool, lasting, middle).waited(0.95) <= p95:
            high = middle
        else:
            low = middle + 1
    return low, _fixed(pool, lasting, low)
