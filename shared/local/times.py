"""Times as the databases keep them: microseconds since 1970, UTC, by the clock the store was given."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECOND = 1_000_000


def micros(span: timedelta) -> int:
    return span // timedelta(microseconds=1)


def stamp(moment: datetime) -> int:
    return micros(moment - _EPOCH)


def moment(stamp: int) -> datetime:
    return _EPOCH + timedelta(microseconds=stamp)


def whole_seconds(stamp: int) -> int:
    """The same, cut to the second: what "last modified" can say over HTTP."""
    return stamp // SECOND * SECOND
