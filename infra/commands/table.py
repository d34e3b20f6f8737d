"""Columns on a terminal."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta


def show(headings: Sequence[str], rows: Iterable[Sequence[object]], *, none: str) -> None:
    """Aligned columns under their headings; the sentence `none` where there are no rows."""
    lines = [[str(cell) for cell in row] for row in rows]
    if not lines:
        print(none)
        return
    widths = [max(len(line[column]) for line in [list(headings), *lines]) for column in range(len(headings))]
    for line in [[heading.upper() for heading in headings], *lines]:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def moment(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}" if at else "-"


def age(span: timedelta | None) -> str:
    if span is None:
        return "-"
    seconds = int(span.total_seconds())
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def size(count: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"
