"""Watchers of a listener."""

from workers.news import News, QueueEmpty, telling


def test_every_watcher_is_told_even_after_one_that_fails() -> None:
    told: list[News] = []

    def fails(news: News) -> None:
        raise RuntimeError("a watcher of its own mind")

    telling([fails, told.append])(QueueEmpty(queue="ingest"))
    assert told == [QueueEmpty(queue="ingest")]
