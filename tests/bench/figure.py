"""One measured figure and the judgement of it."""

from collections.abc import Iterable

import msgspec


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """`value` in `unit`; `against` says what it stands beside and how that fared; `met` is None without a goal."""

    figure: str
    value: float
    unit: str
    against: str = ""
    goal: str = ""
    met: bool | None = None


def as_json(figure: Figure) -> str:
    return msgspec.json.encode(figure).decode()


def as_table(figures: Iterable[Figure]) -> str:
    words = {True: "met", False: "MISSED", None: ""}
    rows = [("figure", "value", "against", "goal", "")]
    rows += [(one.figure, f"{one.value:,.4g} {one.unit}", one.against, one.goal, words[one.met]) for one in figures]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "\n".join(lines)
