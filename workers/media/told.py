"""What ffprobe tells of a file, read without belief: any of it may be missing, no number, endless or absurd."""

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

Described = dict[str, Any]
"""One entry of ffprobe's `streams`, `frames` or `side_data_list`, or its `format`."""

_RATIO = re.compile(r"(\d{1,12})[/:](\d{1,12})")
_LONGEST_WHOLE = 12
_FURTHEST = 1e12
"""Seconds from 0: thirty thousand years."""


def seconds(value: object) -> float | None:
    """A number of seconds, or None for "N/A", nothing, and what is no time."""
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number if math.isfinite(number) and abs(number) <= _FURTHEST else None


def clock_time(value: object) -> float | None:
    """Matroska's "00:00:02.000000000"."""
    parts = [seconds(part) for part in str(value).split(":")]
    if len(parts) != 3 or None in parts:
        return None
    hours, minutes, rest = (part or 0.0 for part in parts)
    return seconds(hours * 3600 + minutes * 60 + rest)


def whole(value: object) -> int:
    """A whole number from 0 up; 0 for what is none."""
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _LONGEST_WHOLE else 0


def ratio(value: object, least: Fraction, most: Fraction) -> Fraction | None:
    """"25/1" or "64:45", from `least` to `most`; None for "0/0" and the like."""
    found = _RATIO.fullmatch(str(value))
    if found is None or not int(found[2]):
        return None
    number = Fraction(int(found[1]), int(found[2]))
    return number if least <= number <= most else None


def turned(sides: Sequence[Described]) -> bool:
    """Whether a display matrix lays the picture on its side: ffmpeg turns it upright within a degree of that alone.

    Only the matrix counts. The tag `rotate` is a word that ffmpeg no longer heeds.
    """
    turns = [abs(turn) for side in sides if (turn := seconds(side.get("rotation"))) is not None]
    return bool(turns) and 89 <= turns[0] <= 90
