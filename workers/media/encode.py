"""One part of a plan becomes segments: all its rungs from one decode, each scaled from the one above it."""

from pathlib import Path
from typing import Any

import ffmpeg
import msgspec

from shared.errors import Permanent
from shared.videos import PartPlan
from workers.media import verify
from workers.media.ffmpeg import Failed, Work, run, source_options
from workers.media.filters import upright
from workers.media.plan import Rung
from workers.media.probe import AudioStream, VideoStream
from workers.media.timing import start_at_zero

SEGMENT_SECONDS = 4
KEY_FRAME_SECONDS = 2
AUDIO_KBITS = 128


def encode_part(url: str, part: PartPlan, folder: Path, work: Work) -> dict[str, Any]:
    """Write playlists, init sections and segments into `folder`; returns the part's result.

    Raises Permanent when the source gives nothing, Stopped, Busy and Full as ffmpeg's runner does.
    """
    detail = part.detail
    media = url_input(url, work)
    if detail["media"] == "audio":
        outputs, made = _audio(media, detail, folder)
    else:
        outputs, made = _video(media, detail, folder)
    try:
        seconds = run(ffmpeg.merge_outputs(*outputs).get_args(), work, duration=detail["duration"])
    except Failed as error:
        raise Permanent("the file is damaged beyond use: nothing in it could be played") from error
    for rendition in made:
        if rendition["kind"] == "video":
            start_at_zero(folder / rendition["playlist"])
    renditions = [verify.checked(folder, rendition) for rendition in made]
    return {"renditions": renditions, "seconds": seconds, "notes": verify.early_end(renditions, detail["duration"])}


def url_input(url: str, work: Work, **more: Any) -> Any:
    return ffmpeg.input(url, **source_options(work.settings), **more)


def _video(media: Any, detail: dict[str, Any], folder: Path) -> tuple[list[Any], list[dict[str, Any]]]:
    video = msgspec.convert(detail["stream"], VideoStream)
    rungs = msgspec.convert(detail["rungs"], list[Rung])
    stream = media[str(video.index)].filter("fps", fps=_text(rungs[0].rate), start_time=0)
    stream = upright(stream, video, rungs[0].width, rungs[0].height)
    outputs, made, above = [], [], rungs[0]
    for place, rung in enumerate(rungs):
        if rung is not rungs[0]:
            if rung.rate != above.rate:
                stream = stream.filter("fps", fps=_text(rung.rate))
            stream = stream.filter("scale", rung.width, rung.height, flags="bicubic").filter("setsar", 1)
        out = stream
        if place + 1 < len(rungs):
            split = stream.filter_multi_output("split", 2)
            out, stream = split[0], split[1]
        outputs.append(_rung_output(out, rung, folder))
        made.append(_rendition(rung))
        above = rung
    return outputs, made


def _rung_output(stream: Any, rung: Rung, folder: Path) -> Any:
    rate = rung.rate[0] / rung.rate[1]
    return ffmpeg.output(
        stream,
        str(folder / f"{rung.label}.m3u8"),
        **{
            "c:v": "libx264",
            "preset": "veryfast",
            "profile:v": "high",
            "crf": 23,
            "maxrate": f"{rung.kbits}k",
            "bufsize": f"{rung.kbits * 2}k",
            "g": round(rate * KEY_FRAME_SECONDS),
            "sc_threshold": 0,
            "force_key_frames": f"expr:gte(t,n_forced*{KEY_FRAME_SECONDS})",
            "forced-idr": 1,
            "fps_mode": "passthrough",
            # An edit list would move the picture again for players that heed it; `start_at_zero` needs none.
            "hls_segment_options": "use_editlist=0",
        },
        **_hls_options(rung.label, folder),
    )


def _audio(media: Any, detail: dict[str, Any], folder: Path) -> tuple[list[Any], list[dict[str, Any]]]:
    audio = msgspec.convert(detail["stream"], AudioStream)
    stream = media[str(audio.index)].filter("aresample", 48000, **{"async": 1, "first_pts": 0})
    stream = stream.filter("aformat", sample_fmts="fltp", channel_layouts="stereo" if audio.channels > 1 else "mono")
    output = ffmpeg.output(
        stream,
        str(folder / "audio.m3u8"),
        **{"c:a": "aac", "b:a": f"{AUDIO_KBITS}k"},
        **_hls_options("audio", folder),
    )
    return [output], [{"name": "audio", "kind": "audio", "playlist": "audio.m3u8", "label": "Audio"}]


def _hls_options(name: str, folder: Path) -> dict[str, Any]:
    return {
        "f": "hls",
        "hls_time": SEGMENT_SECONDS,
        "hls_playlist_type": "vod",
        "hls_segment_type": "fmp4",
        "hls_fmp4_init_filename": f"{name}_init.mp4",
        "hls_segment_filename": str(folder / f"{name}_%05d.m4s").replace("%", "%%").replace("%%05d.m4s", "%05d.m4s"),
        "hls_flags": "independent_segments",
        "map_metadata": -1,
        "map_chapters": -1,
    }


def _rendition(rung: Rung) -> dict[str, Any]:
    return {
        "name": rung.label,
        "kind": "video",
        "playlist": f"{rung.label}.m3u8",
        "label": rung.label,
        "width": rung.width,
        "height": rung.height,
        "frame_rate": round(rung.rate[0] / rung.rate[1], 3),
    }


def _text(rate: tuple[int, int]) -> str:
    return f"{rate[0]}/{rate[1]}"


