"""A storyboard: small tiles in sheets, one each so many seconds, and the WebVTT that says where each one is."""

import math

from workers.media.encode import KEY_FRAME_SECONDS

MAX_TILES = 150
GRID = 5
TILE_SIDE = 160


class Storyboard:
    """`count` tiles of a picture `width` x `height`, fitted to TILE_SIDE, one each `interval` of its `seconds`."""

    def __init__(self, width: int, height: int, interval: int, seconds: float, count: int = 0) -> None:
        scale = min(1.0, TILE_SIDE / max(width, height))
        self.width, self.height = (max(2, round(side * scale / 2) * 2) for side in (width, height))
        self.interval = interval
        self.seconds = seconds
        self.count = count

    @property
    def sheets(self) -> list[str]:
        return [f"sheet-{number + 1}.jpg" for number in range(math.ceil(self.count / (GRID * GRID)))]

    def vtt(self, base: str) -> str:
        """Its URIs start with `base`; it ends where the picture does."""
        lines = ["WEBVTT", ""]
        for tile in range(min(self.count, math.ceil(self.seconds / self.interval))):
            sheet, place = divmod(tile, GRID * GRID)
            row, column = divmod(place, GRID)
            start, end = tile * self.interval, min((tile + 1) * self.interval, self.seconds)
            box = f"{column * self.width},{row * self.height},{self.width},{self.height}"
            lines += [f"{_stamp(start)} --> {_stamp(end)}", f"{base}{self.sheets[sheet]}#xywh={box}", ""]
        return "\n".join(lines)


def interval_of(duration: float) -> int:
    """Whole seconds between two tiles; from two on a multiple of the key frames', which then are all it takes."""
    interval = math.ceil(max(duration, 1.0) / MAX_TILES)
    return interval if interval == 1 else math.ceil(interval / KEY_FRAME_SECONDS) * KEY_FRAME_SECONDS


def _stamp(seconds: float) -> str:
    rest, thousandths = divmod(round(seconds * 1000), 1000)
    minutes, rest = divmod(rest, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{rest:02d}.{thousandths:03d}"
