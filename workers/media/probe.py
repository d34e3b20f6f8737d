"""One careful look at a source: which streams count, how they are shown, and what its owner should know."""

import http.client
import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import ffmpeg
import msgspec

from shared.errors import Permanent
from workers.media.allowed import probe_arguments, source_options
from workers.media.ffmpeg import Failed, Work, inspect, run
from workers.media.length import refuse_too_long
from workers.media.look import LENGTH, refuse_by_look, sentence
from workers.media.streams import AudioStream, VideoStream, choose_audio, choose_video, cover_of
from workers.media.told import Described, seconds, turned, whole

_MAY_INTERLACE = {"h264", "mpeg2video", "vc1", "dvvideo", "mpeg4"}
"""Codecs whose header may call a stream progressive whose frames are not."""

_FRAMES_SEEN = 12
_SOUNDS_TRIED = 8


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
    refuse_by_look(head)
    found = _described(url, head, work)
    streams, file = found.get("streams", []), found.get("format", {})
    start = seconds(file.get("start_time")) or 0.0
    video = choose_video(streams, start, work.settings.max_pixels)
    audio = _decodable(url, choose_audio(streams, start)[:_SOUNDS_TRIED], work)
    if video is None and audio is None:
        raise Permanent("there is neither a picture nor a sound in this file that can be played")
    if video is not None:
        video = _looked_at(url, video, found, work)
    duration = seconds(file.get("duration"))
    if not duration or duration < 0:
        duration = measured(url, (video or audio).index, work)  # type: ignore[union-attr]
    refuse_too_long(duration, whole(file.get("size")))
    return Probe(
        format=str(file.get("format_name")),
        duration=duration,
        video=video,
        audio=audio,
        cover=cover_of(streams),
        notes=tuple(_notes(streams, video, audio)),
    )


def measured(url: str, index: int, work: Work) -> float:
    """Seconds of one stream, by its packets. Raises Failed, and Permanent for one that never ends."""
    stream = ffmpeg.input(url, **source_options(work.settings))[str(index)]
    return run(ffmpeg.output(stream, "-", c="copy", f="null").get_args(), work).seconds


def _head(url: str) -> bytes:
    """By the standard library's plain client: urllib's would ask a proxy for the loopback reader."""
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.netloc, timeout=60)
    try:
        connection.request("GET", address.path, headers={"Range": f"bytes=0-{LENGTH - 1}"})
        answer = connection.getresponse()
        return answer.read(LENGTH) if answer.status in (200, 206) else b""
    finally:
        connection.close()


def _described(url: str, head: bytes, work: Work) -> dict[str, Any]:
    asked = ["-show_format", "-show_streams", "-of", "json", url]
    try:
        return dict(json.loads(inspect([*probe_arguments(work.settings), *asked], work)))
    except Failed as error:
        raise Permanent(sentence(error.text, head)) from error


def _decodable(url: str, sounds: Sequence[AudioStream], work: Work) -> AudioStream | None:
    """The first of these whose first second decodes."""
    for sound in sounds:
        stream = ffmpeg.input(url, **source_options(work.settings), t=1)[str(sound.index)]
        try:
            run(ffmpeg.output(stream, "-", f="null").get_args(), work, look=True)
        except Failed:
            continue
        return sound
    return None


def _looked_at(url: str, video: VideoStream, found: dict[str, Any], work: Work) -> VideoStream:
    """The same with what only its frames tell. Raises Permanent for a GIF of one frame."""
    if found.get("format", {}).get("format_name") == "gif" and _packets(url, video.index, work) < 2:
        raise Permanent("this is an image, not a video")
    frames = _first_frames(url, video, work)
    if not frames:
        return video
    if not video.interlaced and video.codec in _MAY_INTERLACE:
        video = msgspec.structs.replace(video, interlaced=_are_interlaced(frames))
    [stream] = [stream for stream in found["streams"] if whole(stream.get("index")) == video.index]
    if _is_turned(frames[0]) == _is_turned(stream):
        return video
    return msgspec.structs.replace(video, width=video.height, height=video.width)


def _first_frames(url: str, video: VideoStream, work: Work) -> list[Described]:
    """As many as tell; none if they do not decode."""
    count = _FRAMES_SEEN if video.codec in _MAY_INTERLACE else 1
    wanted = ["-show_entries", "frame=interlaced_frame:frame_side_data=rotation", "-of", "json"]
    chosen = ["-select_streams", str(video.index), "-read_intervals", f"%+#{count}"]
    try:
        said = json.loads(inspect([*probe_arguments(work.settings), *chosen, *wanted, url], work))
    except Failed:
        return []
    return list(said.get("frames", []))


def _are_interlaced(frames: Sequence[Described]) -> bool:
    """Whether most of them say so themselves."""
    return 2 * sum(whole(frame.get("interlaced_frame")) for frame in frames) > len(frames)


def _is_turned(described: Described) -> bool:
    """The frame's word is the one ffmpeg goes by; some turn themselves where the file says nothing."""
    return turned(described.get("side_data_list", []))


def _packets(url: str, index: int, work: Work) -> int:
    """Its packets, up to two."""
    entries = ["-show_entries", "stream=nb_read_packets", "-of", "csv=p=0"]
    selected = ["-select_streams", str(index), "-count_packets", "-read_intervals", "%+#2"]
    return whole(inspect([*probe_arguments(work.settings), *selected, *entries, url], work).decode().strip().strip(","))


def _notes(streams: Sequence[Described], video: VideoStream | None, audio: AudioStream | None) -> list[str]:
    notes = []
    others = sum(stream.get("codec_type") == "audio" for stream in streams) - (audio is not None)
    if others and audio is None:
        notes.append("its sound is of a kind that cannot be played and was left out")
    elif others:
        notes.append(f"{others} more audio {'track was' if others == 1 else 'tracks were'} left out")
    if any(stream.get("codec_type") == "subtitle" for stream in streams):
        notes.append("the subtitles inside the file were left out")
    if video is not None and video.hdr:
        notes.append("its high dynamic range was converted to standard range")
    elif video is not None and video.deep:
        notes.append("its picture was converted from more than 8 bits a colour to 8")
    return notes
