"""One part of a plan becomes segments: all its rungs from one decode, each scaled from the one above it."""

from pathlib import Path
from typing import Any

import ffmpeg
import msgspec

from shared.errors import Permanent
from shared.videos import PartPlan
from workers.media import verify
from workers.media.allowed import output_options, source_options
from workers.media.ffmpeg import Failed, Ran, Work, run
from workers.media.filters import smaller, upright
from workers.media.plan import Rung
from workers.media.probe import measured
from workers.media.room import room_in
from workers.media.streams import AudioStream, VideoStream

SEGMENT_SECONDS = 4
KEY_FRAME_SECONDS = 2
AUDIO_KBITS = 128
AUDIO_RATE = 48_000
_PRIMING = 1024
"""Samples by which ffmpeg's AAC encoder lags behind: its first packet holds them before the first it was given."""
_LEAST_SOUND = AUDIO_RATE // 10
"""Samples. A shorter sound is followed by silence: of a click of a few milliseconds no segment would come."""


def encode_part(url: str, part: PartPlan, folder: Path, work: Work) -> dict[str, Any]:
    """Write playlists, init sections and segments into `folder`; returns the part's result.

    Raises Permanent when the source gives nothing, Stopped, Busy and Full as ffmpeg's runner does, and Incomplete
    when less came out than went in.
    """
    detail = part.detail
    source = ffmpeg.input(url, **source_options(work.settings))
    if detail["media"] == "audio":
        stream: AudioStream | VideoStream = msgspec.convert(detail["stream"], AudioStream)
        outputs, made = _audio(source, msgspec.convert(stream, AudioStream), folder, work)
    else:
        stream = msgspec.convert(detail["stream"], VideoStream)
        outputs, made = _video(source, stream, msgspec.convert(detail["rungs"], list[Rung]), folder, work)
    with room_in(folder, work.settings.min_free) as room:
        ran = _run(outputs, work, detail["duration"])
        renditions = [verify.checked(folder, rendition) for rendition in made]
        notes = _shortfall(url, stream, renditions, ran, work)
        if notes:
            room.check()
    return {"renditions": renditions, "seconds": ran.seconds, "notes": notes}


def _run(outputs: list[Any], work: Work, duration: float) -> Ran:
    try:
        # Frames that do not decode are left out, however many; what is missing in the end is told by its length.
        arguments = ffmpeg.merge_outputs(*outputs).global_args("-max_error_rate", "1").get_args()
        return run(arguments, work, duration=duration)
    except Failed as error:
        raise Permanent("the file is damaged beyond use: nothing in it could be played") from error


def _shortfall(
    url: str, stream: AudioStream | VideoStream, renditions: list[dict[str, Any]], ran: Ran, work: Work
) -> list[str]:
    """A sentence for the owner if the source gave less than it promised. Raises Incomplete if it was not the source."""
    made = min(rendition["duration"] for rendition in renditions)
    if stream.ends is None or not verify.is_short(made, stream.ends):
        return []
    here = measured(url, stream.index, work)
    what = "picture" if isinstance(stream, VideoStream) else "sound"
    if not verify.is_short(made, here):
        return [f"the file ends early: {_share(made, stream.ends)} of its {what} are there"]
    if ran.complaints:
        return [f"the file is damaged: {_share(made, stream.ends)} of its {what} could be played"]
    raise verify.Incomplete(f"{made:.1f} s came out of {here:.1f} s, without a word of why")


def _share(made: float, whole: float) -> str:
    if whole < 60:
        return f"{made:.1f} of {whole:.1f} seconds"
    spans = [f"{seconds // 60}:{seconds % 60:02d}" for seconds in (round(made), round(whole))]
    return f"{spans[0]} of {spans[1]} minutes"


def _video(
    source: Any, video: VideoStream, rungs: list[Rung], folder: Path, work: Work
) -> tuple[list[Any], list[dict[str, Any]]]:
    top = rungs[0]
    stream = upright(source[str(video.index)], video, top.width, top.height, rate=_text(top.rate))
    outputs = []
    for above, rung, below in zip([None, *rungs], rungs, [*rungs[1:], None], strict=False):
        if above is not None:
            if rung.rate != above.rate:
                stream = stream.filter("fps", fps=_text(rung.rate))
            stream = smaller(stream, rung.width, rung.height)
        out = stream
        if below is not None:
            split = stream.filter_multi_output("split", 2)
            out, stream = split[0], split[1]
        outputs.append(_rung_output(out, rung, folder, work))
    return outputs, [_rendition(rung) for rung in rungs]


def _rung_output(stream: Any, rung: Rung, folder: Path, work: Work) -> Any:
    # Counted in frames, so that rungs of half the rate have their key frames at exactly the same times.
    group = round(rung.rate[0] / rung.rate[1] * KEY_FRAME_SECONDS)
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
            "g": group,
            "keyint_min": group,
            "sc_threshold": 0,
            "fps_mode": "passthrough",
        },
        **_hls_options(rung.label, folder),
        **output_options(work.settings),
    )


def _audio(source: Any, audio: AudioStream, folder: Path, work: Work) -> tuple[list[Any], list[dict[str, Any]]]:
    """From 0 on, silence where it starts late; then without what the encoder's own lag takes the place of."""
    stream = source[str(audio.index)].filter("aresample", AUDIO_RATE, **{"async": 1, "first_pts": 0})
    stream = _stereo(stream, audio.channels).filter("apad", whole_len=_LEAST_SOUND)
    stream = stream.filter("atrim", start_sample=_PRIMING)
    output = ffmpeg.output(
        stream,
        str(folder / "audio.m3u8"),
        **{"c:a": "aac", "b:a": f"{AUDIO_KBITS}k"},
        **_hls_options("audio", folder),
        **output_options(work.settings),
    )
    return [output], [{"name": "audio", "kind": "audio", "playlist": "audio.m3u8", "label": "Audio", "channels": 2}]


def _stereo(stream: Any, channels: int) -> Any:
    """One channel on both sides as loud as it was; more mixed down at full level, so that speech in the centre keeps
    its loudness, with only the peaks held back (to 1.5 dB below full scale, since AAC overshoots)."""
    if channels == 1:
        return stream.filter("channelmap", map="0|0", channel_layout="stereo")
    stream = stream.filter("aformat", sample_fmts="fltp", channel_layouts="stereo")
    return stream if channels == 2 else stream.filter("alimiter", limit=0.84, level="disabled")


def _hls_options(name: str, folder: Path) -> dict[str, Any]:
    escaped = str(folder).replace("%", "%%")
    return {
        "f": "hls",
        "hls_time": SEGMENT_SECONDS,
        "hls_playlist_type": "vod",
        "hls_segment_type": "fmp4",
        "hls_fmp4_init_filename": f"{name}_init.mp4",
        "hls_segment_filename": f"{escaped}/{name}_%05d.m4s",
        "hls_flags": "independent_segments",
        # The first picture at 0 with B-frames too: neither late by their delay, nor in need of an edit list, which
        # not every player heeds. And no index of the segment in itself: it would still tell the late time.
        "hls_segment_options": "movflags=+negative_cts_offsets+skip_sidx:use_editlist=0",
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
