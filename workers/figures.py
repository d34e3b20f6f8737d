"""What a worker process counts for Prometheus, as its listener tells it; and what is read at each scrape."""

import time
from collections.abc import Callable, Iterator

from shared.errors import MatineeError
from shared.metrics import Metrics, Sample
from shared.services import Services
from shared.tickets import POISON_SUFFIX, QUEUES
from workers.news import Began, LeaseLost, News, Settled, Watcher
from workers.report import read_reports

_KEPT = 5.0
"""Seconds for which what the queues said is good: however often it is scraped, it costs little."""


def counting(metrics: Metrics) -> Watcher:
    def count(news: News) -> None:
        match news:
            case Began(number=1):
                metrics.observe("matinee_wait_seconds", news.queue, seconds=news.waited)
            case Settled():
                counted = "yes" if news.counted else "no"
                metrics.observe("matinee_try_seconds", news.kind, seconds=news.seconds)
                metrics.add("matinee_tickets_settled_total", news.queue, news.kind, news.outcome, counted)
                metrics.add("matinee_ffmpeg_seconds_total", news.kind, by=news.ffmpeg_seconds)
                metrics.add("matinee_ffmpeg_cpu_seconds_total", news.kind, by=news.ffmpeg_cpu)
            case LeaseLost():
                metrics.add("matinee_leases_lost_total", news.queue)
            case _:
                pass

    return count


def gauges(services: Services) -> Callable[[], list[Sample]]:
    """Of the queues, read every few seconds at most, and of this machine's workers."""
    kept: list[Sample] = []
    read = -_KEPT

    def look() -> list[Sample]:
        nonlocal kept, read
        if time.monotonic() - read >= _KEPT:
            kept, read = list(_queues(services)), time.monotonic()
        return [*kept, *_workers(services)]

    return look


def _queues(services: Services) -> Iterator[Sample]:
    for queue in QUEUES:
        try:
            depth, aside = services.queues.depth(queue), services.queues.depth(queue + POISON_SUFFIX)
        except MatineeError:  # what is not known is not told; it is no zero
            continue
        oldest = depth.oldest.total_seconds() if depth.oldest is not None else 0.0
        yield "matinee_queue_tickets", (queue,), depth.messages
        yield "matinee_queue_oldest_seconds", (queue,), oldest
        yield "matinee_poison_tickets", (queue,), aside.messages


def _workers(services: Services) -> Iterator[Sample]:
    pools: dict[str, list[int]] = {}
    for report in read_reports(services.scratch):
        figures = pools.setdefault(report.pool, [0, 0, 0])
        for place, value in enumerate((1, report.tasks, len(report.tickets))):
            figures[place] += value
    for pool, figures in pools.items():
        for name, value in zip(("workers", "dequeue_tasks", "tickets_at_work"), figures, strict=True):
            yield f"matinee_{name}", (pool,), value
