"""Poster and storyboard. The storyboard is cut from the smallest rendition, and its tiles tell where a poster is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import ffmpeg
import msgspec

from shared.errors import Permanent
from shared.videos import PartPlan
from workers.media.allowed import output_options, source_options
from workers.media.encode import KEY_FRAME_SECONDS
from workers.media.ffmpeg import Failed, Work, run
from workers.media.filters import for_jpeg, upright
from workers.media.room import room_in
from workers.media.storyboard import GRID, Storyboard, interval_of
from workers.media.streams import VideoStream

POSTER = "poster.jpg"
STORYBOARD = "storyboard.vtt"
POSTER_SIDE = 1280
_LOOKS = "looks.gray"
_LOOK_SIDE = 16
_LIVELY = 0.6


@dataclass(frozen=True, kw_only=True)
class Small:
    """The video's smallest rendition: where it is read, and how long it really is."""

    url: str
    seconds: float


def make_pictures(
    url: str, part: PartPlan, folder: Path, work: Work, *, base: str, small: Small | None = None
) -> dict[str, Any]:
    """Write poster.jpg and, for a video, storyboard.vtt with its sheets; URIs in it start with `base`.

    `small` is there unless it is a sound. Raises Permanent if no picture could be made, Full if the disk had no
    room for it.
    """
    with room_in(folder, work.settings.min_free):
        if small is None:
            _sound_poster(url, part.detail, folder, work)
            return {"poster": POSTER, "storyboard": None}
        return _video_pictures(url, msgspec.convert(part.detail["video"], VideoStream), folder, work, base, small)


def _video_pictures(
    url: str, video: VideoStream, folder: Path, work: Work, base: str, small: Small
) -> dict[str, Any]:
    board, looks = _storyboard(small, video, folder, work)
    (folder / STORYBOARD).write_text(board.vtt(base))
    work.report(0.7)
    _poster(url, small.url, video, board.interval * liveliest(looks), folder, work)
    return {"poster": POSTER, "storyboard": STORYBOARD, "sheets": board.sheets}


def liveliest(looks: Sequence[bytes]) -> int:
    """Which of these small grey pictures stands for the whole: near a quarter of the way, and not much duller than
    the liveliest, so neither black nor faded."""
    contrasts = [fmean(abs(value - fmean(look)) for value in look) for look in looks]
    good = [place for place, contrast in enumerate(contrasts) if contrast >= _LIVELY * max(contrasts)]
    return min(good, key=lambda place: abs(place - len(looks) / 4))


def _storyboard(
    small: Small, video: VideoStream, folder: Path, work: Work
) -> tuple[Storyboard, list[bytes]]:
    """The sheets, and how each tile looks."""
    interval = interval_of(small.seconds)
    keys_only = {"skip_frame": "nokey"} if interval >= KEY_FRAME_SECONDS else {}
    board = Storyboard(video.width, video.height, interval, small.seconds)
    frames = ffmpeg.input(small.url, **source_options(work.settings), **keys_only)["v:0"]
    # Up: a tile shows the last frame at or before its own start.
    frames = frames.filter("fps", fps=f"1/{interval}", start_time=0, round="up").filter_multi_output("split", 2)
    tiles = for_jpeg(frames[0], board.width, board.height).filter("tile", f"{GRID}x{GRID}")
    looks = frames[1].filter("scale", _LOOK_SIDE, _LOOK_SIDE, flags="area").filter("format", "gray")
    more = output_options(work.settings)
    outputs = [
        ffmpeg.output(tiles, str(folder / "sheet-%d.jpg"), **{"q:v": 5, "f": "image2"}, **more),
        ffmpeg.output(looks, str(folder / _LOOKS), **{"f": "rawvideo", "c:v": "rawvideo"}),
    ]
    try:
        run(ffmpeg.merge_outputs(*outputs).get_args(), work, duration=small.seconds)
    except Failed as error:
        raise Permanent("no storyboard of this video could be made") from error
    raw = (folder / _LOOKS).read_bytes()
    (folder / _LOOKS).unlink()
    size = _LOOK_SIDE * _LOOK_SIDE
    found = [raw[at : at + size] for at in range(0, len(raw), size)]
    board.count = len(found)
    if not found or not all((folder / sheet).is_file() for sheet in board.sheets):
        raise Permanent("no storyboard of this video could be made")
    return board, found


def _poster(url: str, small: str, video: VideoStream, at: float, folder: Path, work: Work) -> None:
    """From the source at full quality; where that does not decode there, from its start, or from the rendition."""
    scale = min(1.0, POSTER_SIDE / max(video.width, video.height))
    size = (max(2, math.floor(video.width * scale)), max(2, math.floor(video.height * scale)))
    for seek in (at, 0.0):
        source = ffmpeg.input(url, **source_options(work.settings), ss=seek)[str(video.index)]
        if _still(for_jpeg(upright(source, video, *_even(size)), *size), folder, work):
            return
    source = ffmpeg.input(small, **source_options(work.settings), ss=at)["v:0"]
    if not _still(for_jpeg(source, *size), folder, work):
        raise Permanent("no picture of this video could be decoded")


def _sound_poster(url: str, detail: dict[str, Any], folder: Path, work: Work) -> None:
    """The cover that came with it, or the shape of the sound."""
    options = source_options(work.settings)
    if detail["cover"] is not None:
        cover = ffmpeg.input(url, **options)[str(detail["cover"])]
        if _still(for_jpeg(cover, f"min({POSTER_SIDE},iw)", -2), folder, work):
            return
    sound = ffmpeg.input(url, **options)[str(detail["audio"]["index"])]
    # Of fewer samples than it has columns ffmpeg draws nothing.
    shape = sound.filter("apad", whole_len=2 * POSTER_SIDE).filter("showwavespic", s="1280x720", colors="#c8433a")
    if not _still(for_jpeg(shape, 1280, 720), folder, work):
        raise Permanent("no picture of this sound could be made")


def _still(stream: Any, folder: Path, work: Work) -> bool:
    """Whether a poster came of it: past the end ffmpeg is content with none."""
    path = folder / POSTER
    options = {"frames:v": 1, "q:v": 3, "f": "image2", "update": 1, **output_options(work.settings)}
    try:
        run(ffmpeg.output(stream, str(path), **options).get_args(), work)
    except Failed:
        path.unlink(missing_ok=True)
    return path.is_file() and path.stat().st_size > 0


def _even(size: tuple[int, int]) -> tuple[int, int]:
    return max(2, size[0] // 2 * 2), max(2, size[1] // 2 * 2)
