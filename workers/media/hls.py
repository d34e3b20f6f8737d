"""Playlists: reading the media playlists ffmpeg writes, and writing our own master playlist."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from shared.videos import Part

AUDIO_GROUP = "audio"
_SEGMENT = re.compile(r"#EXTINF:([0-9.]+),[^\n]*\n(?:#[^\n]*\n)*([^#\n]+)")
_MAP = re.compile(r'#EXT-X-MAP:URI="([^"]+)"')


class MediaPlaylist(NamedTuple):
    """`init` the file of the init section; `segments` (file, seconds) in order; `ended` if it is complete."""

    init: str
    segments: list[tuple[str, float]]
    ended: bool

    @property
    def files(self) -> list[str]:
        """One after the other they are one fragmented MP4."""
        return [self.init, *(name for name, _ in self.segments)]


def read_playlist(path: Path) -> MediaPlaylist:
    return parse_playlist(path.read_text())


def parse_playlist(text: str) -> MediaPlaylist:
    found = _MAP.search(text)
    return MediaPlaylist(
        init=found.group(1) if found else "",
        segments=[(name.strip(), float(seconds)) for seconds, name in _SEGMENT.findall(text)],
        ended="#EXT-X-ENDLIST" in text,
    )


def master_playlist(parts: Mapping[str, Part], generation: int) -> str:
    """The master playlist over the finished parts; URIs are relative to the video's media folder.

    The part "first" leads: players without a measured bandwidth start with the first variant listed, and it is the
    one made to start quickly. The others follow from low to high.
    """
    found = [
        (part.name != "first", rendition["bandwidth"], rendition, _folder(part, generation))
        for part in parts.values()
        for rendition in part.result.get("renditions", [])
    ]
    found.sort(key=lambda entry: entry[:2])
    audio = next((entry for entry in found if entry[2]["kind"] == "audio"), None)
    videos = [entry for entry in found if entry[2]["kind"] == "video"]
    lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-INDEPENDENT-SEGMENTS"]
    if audio and videos:
        lines.append(
            f'#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="{AUDIO_GROUP}",NAME="Audio",DEFAULT=YES,AUTOSELECT=YES,'
            f'CHANNELS="{audio[2]["channels"]}",URI="{audio[3]}{audio[2]["playlist"]}"'
        )
    for _, _, rendition, folder in videos or ([audio] if audio else []):
        lines += [_variant(rendition, audio[2] if audio and videos else None), folder + rendition["playlist"]]
    return "\n".join(lines) + "\n"


def _variant(rendition: Mapping[str, Any], audio: Mapping[str, Any] | None) -> str:
    peak, average, codecs = rendition["bandwidth"], rendition["average_bandwidth"], [rendition["codecs"]]
    if audio is not None:
        peak, average = peak + audio["bandwidth"], average + audio["average_bandwidth"]
        codecs.append(audio["codecs"])
    fields = [f"BANDWIDTH={peak}", f"AVERAGE-BANDWIDTH={average}", f'CODECS="{",".join(codecs)}"']
    if rendition["kind"] == "video":
        fields.append(f"RESOLUTION={rendition['width']}x{rendition['height']}")
        fields.append(f"FRAME-RATE={rendition['frame_rate']:.3f}")
    if audio is not None:
        fields.append(f'AUDIO="{AUDIO_GROUP}"')
    return "#EXT-X-STREAM-INF:" + ",".join(fields)


def _folder(part: Part, generation: int) -> str:
    return f"g{generation}/{part.name}/{part.attempt}/"
