"""What is seen and lost, as log lines; what becomes of each ticket is logged where it happens, with its reason."""

import structlog

from workers.news import LeaseLost, News, QueueEmpty, WorkDetected


def note(news: News) -> None:
    log = structlog.get_logger()
    match news:
        case WorkDetected():
            log.info("work_detected", queue=news.queue, waiting=news.waiting)
        case QueueEmpty():
            log.info("queue_empty", queue=news.queue)
        case LeaseLost():
            log.warning("lease_lost", queue=news.queue, ticket=news.ticket.id, reason=news.why)
        case _:
            pass
