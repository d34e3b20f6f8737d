"""Poster and storyboard: a few seeks for the one, key frames only for the other, so memory and time stay small."""

import math
from pathlib import Path
from typing import Any

import ffmpeg
import msgspec

from shared.errors import Permanent
from shared.videos import PartPlan
from workers.media.encode import url_input
from workers.media.ffmpeg import Failed, Work, run
from workers.media.filters import upright
from workers.media.probe import VideoStream

MAX_TILES = 150
GRID = 5
TILE_SIDE = 160
POSTER_SIDE = 1280
_FULL_DECODE_SECONDS = 90
_WISHES = (0.25, 0.1, 0.5, 0.75)


def make_pictures(url: str, part: PartPlan, folder: Path, work: Work, *, base: str) -> dict[str, Any]:
    """Write poster.jpg and, for a video, storyboard.vtt with its sheets; URIs in it start with `base`.

    Raises Permanent if the source has no picture that decodes.
    """
    detail = part.detail
    if detail["video"] is None:
        _sound_poster(url, detail, folder, work)
        return {"poster": "poster.jpg", "storyboard": None}
    video = msgspec.convert(detail["video"], VideoStream)
    _poster(url, video, detail["duration"], folder, work)
    work.report(0.4)
    tiles = _storyboard(url, video, detail["duration"], folder, work)
    (folder / "storyboard.vtt").write_text(tiles.vtt(base))
    return {"poster": "poster.jpg", "storyboard": "storyboard.vtt"}


def _poster(url: str, video: VideoStream, duration: float, folder: Path, work: Work) -> None:
    """The first of a few candidates that is not much duller than the best: a black frame makes a tiny JPEG."""
    width, height = _fit(video, POSTER_SIDE)
    candidates = []
    for number, wish in enumerate(_WISHES if duration > 1 else (0.0,)):
        path = folder / f"candidate-{number}.jpg"
        _still(url, video, wish * duration, path, (width, height), work)
        if path.is_file() and path.stat().st_size:
            candidates.append(path)
    if not candidates:
        path = folder / "candidate-start.jpg"
        _still(url, video, 0.0, path, (width, height), work)
        candidates = [path] if path.is_file() else []
    if not candidates:
        raise Permanent("no picture of this video could be decoded")
    best = max(path.stat().st_size for path in candidates)
    chosen = next(path for path in candidates if path.stat().st_size >= best * 0.6)
    chosen.rename(folder / "poster.jpg")
    for path in candidates:
        path.unlink(missing_ok=True)


def _still(
    url: str, video: VideoStream, at: float, path: Path, size: tuple[int, int], work: Work
) -> None:
    stream = upright(url_input(url, work, ss=at)[str(video.index)], video, *size)
    output = ffmpeg.output(stream, str(path), **{"frames:v": 1, "q:v": 3, "f": "image2", "update": 1})
    try:
        run(_full_range(output).get_args(), work)
    except Failed:
        path.unlink(missing_ok=True)


class _Tiles:
    """Where each tile of a storyboard is: `count` tiles of `width` x `height`, one each `interval` seconds."""

    def __init__(self, count: int, interval: float, width: int, height: int) -> None:
        self.count, self.interval, self.width, self.height = count, interval, width, height

    def vtt(self, base: str) -> str:
        lines = ["WEBVTT", ""]
        for tile in range(self.count):
            sheet, place = divmod(tile, GRID * GRID)
            row, column = divmod(place, GRID)
            start, end = tile * self.interval, (tile + 1) * self.interval
            box = f"{column * self.width},{row * self.height},{self.width},{self.height}"
            lines += [f"{_stamp(start)} --> {_stamp(end)}", f"{base}sheet-{sheet + 1}.jpg#xywh={box}", ""]
        return "\n".join(lines)


def _storyboard(url: str, video: VideoStream, duration: float, folder: Path, work: Work) -> _Tiles:
    interval = max(1.0, duration / MAX_TILES)
    count = max(1, min(MAX_TILES, math.ceil(duration / interval)))
    width, height = _fit(video, TILE_SIDE)
    keys_only = {} if duration <= _FULL_DECODE_SECONDS else {"skip_frame": "nokey"}
    stream = url_input(url, work, **keys_only)[str(video.index)]
    stream = stream.filter("fps", fps=f"1000/{round(interval * 1000)}", start_time=0, round="up")
    stream = upright(stream, video, width, height).filter("tile", f"{GRID}x{GRID}")
    sheets = math.ceil(count / (GRID * GRID))
    output = ffmpeg.output(stream, str(folder / "sheet-%d.jpg"), **{"q:v": 5, "f": "image2", "frames:v": sheets})
    try:
        run(_full_range(output).get_args(), work)
    except Failed as error:
        raise Permanent("no storyboard of this video could be made") from error
    here = len(list(folder.glob("sheet-*.jpg")))
    if not here:
        raise Permanent("no storyboard of this video could be made")
    return _Tiles(min(count, here * GRID * GRID), interval, width, height)


def _sound_poster(url: str, detail: dict[str, Any], folder: Path, work: Work) -> None:
    """The cover that came with it, or the shape of the sound."""
    path = str(folder / "poster.jpg")
    still = {"frames:v": 1, "q:v": 3, "f": "image2", "update": 1}
    if detail["cover"] is not None:
        cover = url_input(url, work)[str(detail["cover"])]
        fitted = cover.filter("scale", f"min({POSTER_SIDE},iw)", -2).filter("format", "yuv420p")
        try:
            run(_full_range(ffmpeg.output(fitted, path, **still)).get_args(), work)
        except Failed:
            Path(path).unlink(missing_ok=True)
        if Path(path).is_file():
            return
    sound = url_input(url, work)[str(detail["audio"]["index"])]
    shape = sound.filter("showwavespic", s="1280x720", colors="#c8433a").filter("format", "yuv420p")
    try:
        run(_full_range(ffmpeg.output(shape, path, **still)).get_args(), work)
    except Failed as error:
        raise Permanent("no picture of this sound could be made") from error


def _full_range(output: Any) -> Any:
    """JPEG readers expect full range; ffmpeg's encoder wants to be told that ours is not."""
    return output.global_args("-strict", "unofficial")


def _fit(video: VideoStream, side: int) -> tuple[int, int]:
    scale = min(1.0, side / max(video.width, video.height))
    return max(2, round(video.width * scale / 2) * 2), max(2, round(video.height * scale / 2) * 2)


def _stamp(seconds: float) -> str:
    milliseconds = round(seconds * 1000)
    hours, rest = divmod(milliseconds, 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    return f"{hours:02d}:{minutes:02d}:{rest // 1000:02d}.{rest % 1000:03d}"
