"""One careful look at a source: which streams count, how they are shown, and what its owner should know."""

import json
from fractions import Fraction
from typing import Any
from urllib.request import Request, urlopen

import msgspec

from shared.errors import Permanent
from workers.media.ffmpeg import FORMATS, PROTOCOLS, Failed, Work, inspect

_HDR = {"smpte2084", "arib-std-b67"}
_INTERLACED = {"tt", "bb", "tb", "bt"}
_MAY_INTERLACE = {"h264", "mpeg2video", "vc1", "dvvideo", "mpeg4"}
"""Codecs whose header may call a stream progressive whose frames are not."""
_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"BM", b"II*\x00", b"MM\x00*")


class VideoStream(msgspec.Struct, frozen=True, kw_only=True):
    """The picture as it is shown: `width` x `height` upright with square pixels; `rate` frames a second, average."""

    index: int
    codec: str
    width: int
    height: int
    rate: tuple[int, int]
    interlaced: bool = False
    hdr: bool = False
    full_range: bool = False


class AudioStream(msgspec.Struct, frozen=True, kw_only=True):
    index: int
    codec: str
    channels: int


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """`duration` in seconds; `cover` the index of an attached picture; `notes` are sentences for the owner."""

    format: str
    duration: float
    video: VideoStream | None
    audio: AudioStream | None
    cover: int | None = None
    notes: tuple[str, ...] = ()


def probe(url: str, work: Work) -> Probe:
    """Raises Permanent, with a sentence for the owner, for what can never be shown."""
    head = _head(url)
    _refuse_by_look(head)
    try:
        found = json.loads(inspect([*_INPUT, "-show_format", "-show_streams", "-of", "json", url], work))
    except Failed as error:
        raise Permanent(_sentence(error.text, head)) from error
    streams = found.get("streams", [])
    notes: list[str] = []
    audio = _choose_audio(streams, notes)
    video = _choose_video(streams)
    if video is not None and not video.interlaced and video.codec in _MAY_INTERLACE:
        video = msgspec.structs.replace(video, interlaced=_frames_are_interlaced(url, video.index, work))
    duration = _duration(url, found, video, audio, work)
    if video is not None and found["format"]["format_name"] == "gif" and _packets(url, video.index, work) < 2:
        raise Permanent("this is an image, not a video")
    if video is None and audio is None:
        raise Permanent("there is neither a picture nor a sound in this file that can be played")
    cover = next((s["index"] for s in streams if s.get("disposition", {}).get("attached_pic")), None)
    return Probe(
        format=found["format"]["format_name"],
        duration=duration,
        video=video,
        audio=audio,
        cover=cover,
        notes=tuple(notes),
    )


_INPUT = ("-protocol_whitelist", PROTOCOLS, "-format_whitelist", FORMATS)


def _head(url: str) -> bytes:
    with urlopen(Request(url, headers={"Range": "bytes=0-511"}), timeout=30) as answer:
        return bytes(answer.read(512))


def _refuse_by_look(head: bytes) -> None:
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if text.startswith((b"#extm3u", b"ffconcat", b"<mpd", b"<?xml")) and b"<html" not in text:
        raise Permanent("playlists cannot be uploaded; upload the video itself")
    if text.startswith((b"<!doctype html", b"<html")):
        raise Permanent("this is a web page, not a video")
    if head.startswith(_PICTURES) or (head[:4] == b"RIFF" and head[8:12] == b"WEBP"):
        raise Permanent("this is an image, not a video")


def _sentence(text: str, head: bytes) -> str:
    if "moov atom not found" in text:
        return "the file is incomplete: its index (moov) is missing; export or upload it again"
    if not head.strip(b"\x00"):
        return "the file holds only zeros; upload it again"
    if "exceeds" in text.lower() and "pixels" in text.lower():
        return "the picture is too large to be shown"
    return "this is not a video that can be read; it may be damaged or of an unknown kind"


def _choose_audio(streams: list[dict[str, Any]], notes: list[str]) -> AudioStream | None:
    sounds = [stream for stream in streams if stream.get("codec_type") == "audio"]
    known = [s for s in sounds if s.get("codec_name") not in (None, "none", "unknown") and int(s.get("channels", 0))]
    if len(known) < len(sounds):
        notes.append("an audio track of an unknown kind was left out")
    if not known:
        return None
    chosen = next((s for s in known if s.get("disposition", {}).get("default")), known[0])
    if len(known) > 1:
        notes.append(f"{len(known) - 1} further audio track{'s were' if len(known) > 2 else ' was'} left out")
    return AudioStream(index=chosen["index"], codec=chosen["codec_name"], channels=int(chosen["channels"]))


def _choose_video(streams: list[dict[str, Any]]) -> VideoStream | None:
    pictures = [
        stream
        for stream in streams
        if stream.get("codec_type") == "video"
        and not stream.get("disposition", {}).get("attached_pic")
        and stream.get("codec_name") not in (None, "none", "unknown")
        and int(stream.get("width", 0)) > 0
    ]
    if not pictures:
        return None
    chosen = next((s for s in pictures if s.get("disposition", {}).get("default")), pictures[0])
    _refuse_dolby(chosen)
    width, height = _display_size(chosen)
    rate = _fraction(chosen.get("avg_frame_rate")) or _fraction(chosen.get("r_frame_rate")) or Fraction(25)
    return VideoStream(
        index=chosen["index"],
        codec=chosen["codec_name"],
        width=width,
        height=height,
        rate=(rate.numerator, rate.denominator),
        interlaced=chosen.get("field_order") in _INTERLACED,
        hdr=chosen.get("color_transfer") in _HDR,
        full_range=chosen.get("color_range") == "pc",
    )


def _refuse_dolby(stream: dict[str, Any]) -> None:
    for side in stream.get("side_data_list", []):
        if side.get("dv_profile") == 5 and not side.get("dv_bl_signal_compatibility_id"):
            raise Permanent(
                "this Dolby Vision file (profile 5) has no picture that others can show; export it as HDR10 or SDR"
            )


def _display_size(stream: dict[str, Any]) -> tuple[int, int]:
    width, height = int(stream["width"]), int(stream["height"])
    aspect = _fraction(stream.get("sample_aspect_ratio", "").replace(":", "/")) or Fraction(1)
    width = max(1, round(width * aspect))
    turns = [side.get("rotation", 0) for side in stream.get("side_data_list", [])]
    turns.append(stream.get("tags", {}).get("rotate", 0))
    turn = next((int(float(turn)) for turn in turns if turn), 0)
    return (height, width) if turn % 180 else (width, height)


def _frames_are_interlaced(url: str, index: int, work: Work) -> bool:
    """Whether most of the first frames say so themselves."""
    entries = ["-select_streams", str(index), "-read_intervals", "%+#12", "-show_entries", "frame=interlaced_frame"]
    try:
        said = inspect([*_INPUT, *entries, "-of", "csv=p=0", url], work).decode().split()
    except Failed:
        return False
    return 2 * sum(line.startswith("1") for line in said) > len(said)


def _fraction(text: str | None) -> Fraction | None:
    try:
        value = Fraction(text or "0")
    except (ValueError, ZeroDivisionError):
        return None
    return value if value > 0 else None


def _duration(
    url: str, found: dict[str, Any], video: VideoStream | None, audio: AudioStream | None, work: Work
) -> float:
    told = found.get("format", {}).get("duration")
    if told not in (None, "N/A") and float(told) > 0:
        return float(told)
    stream = video or audio
    return _measured(url, stream.index, work) if stream else 0.0


def _measured(url: str, index: int, work: Work) -> float:
    """Length by the packets' times, for files that do not say it."""
    entries = ["-select_streams", str(index), "-show_entries", "packet=pts_time,duration_time", "-of", "csv=p=0"]
    start, end = None, 0.0
    for line in inspect([*_INPUT, *entries, url], work).decode(errors="replace").splitlines():
        fields = [field for field in line.split(",") if field and field != "N/A"]
        if not fields:
            continue
        start = float(fields[0]) if start is None else min(start, float(fields[0]))
        end = max(end, float(fields[0]) + (float(fields[1]) if len(fields) > 1 else 0.0))
    return max(0.0, end - (start or 0.0))


def _packets(url: str, index: int, work: Work) -> int:
    entries = ["-show_entries", "stream=nb_read_packets", "-of", "csv=p=0"]
    counted = inspect([*_INPUT, "-select_streams", str(index), "-count_packets", *entries, url], work)
    text = counted.decode().strip().strip(",")
    return int(text) if text.isdigit() else 0
