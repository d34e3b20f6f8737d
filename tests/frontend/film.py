"""A short real film as a player meets it: two qualities as HLS with fMP4 segments, one MP4, a poster, a storyboard."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import imageio_ffmpeg

SECONDS = 12
TYPES = {
    ".m3u8": "application/vnd.apple.mpegurl",
    ".m4s": "video/mp4",
    ".mp4": "video/mp4",
    ".jpg": "image/jpeg",
    ".vtt": "text/vtt; charset=utf-8",
}
RUNGS = ((320, 180, 200), (640, 360, 600))


@dataclass(frozen=True)
class Film:
    """Files of one folder, and the master playlists as they are before and after the better quality is there."""

    folder: Path

    @property
    def files(self) -> list[Path]:
        return sorted(path for path in self.folder.iterdir() if path.suffix in TYPES)

    def master(self, prefix: str, rungs: int) -> bytes:
        """A master playlist of the lowest `rungs`, its addresses under `prefix`."""
        lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-INDEPENDENT-SEGMENTS"]
        for number, (width, height, rate) in enumerate(RUNGS[:rungs]):
            lines += [
                f'#EXT-X-STREAM-INF:BANDWIDTH={rate * 1000},RESOLUTION={width}x{height},CODECS="avc1.42c01e,mp4a.40.2"',
                f"{prefix}rung{number}.m3u8",
            ]
        return ("\n".join(lines) + "\n").encode()

    def storyboard(self, prefix: str) -> bytes:
        cues = ["WEBVTT"]
        for number in range(SECONDS // 3):
            start, end = number * 3, number * 3 + 3
            cues.append(f"00:00:{start:02d}.000 --> 00:00:{end:02d}.000\n{prefix}board.jpg#xywh={number * 160},0,160,90")
        return ("\n\n".join(cues) + "\n").encode()


def make(folder: Path) -> Film:
    for number, (width, height, rate) in enumerate(RUNGS):
        _ffmpeg(
            folder, *_picture(width, height), "-f", "lavfi", "-i", f"sine=440:duration={SECONDS}",
            "-map", "0:v", "-map", "1:a", "-c:v", "libx264", "-preset", "ultrafast", "-profile:v", "baseline",
            "-pix_fmt", "yuv420p", "-g", "50", "-b:v", f"{rate}k", "-c:a", "aac", "-f", "hls", "-hls_time", "2",
            "-hls_playlist_type", "vod", "-hls_segment_type", "fmp4", "-hls_fmp4_init_filename", f"rung{number}_init.mp4",
            "-hls_segment_filename", f"rung{number}_%03d.m4s", f"rung{number}.m3u8",
        )
    _ffmpeg(folder, *_picture(320, 180), "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p",
            "-movflags", "+faststart", "video.mp4")
    _ffmpeg(folder, *_picture(640, 360), "-frames:v", "1", "poster.jpg")
    _ffmpeg(folder, *_picture(160, 90), "-vf", "fps=1/3,tile=4x1", "-frames:v", "1", "board.jpg")
    return Film(folder)


def _picture(width: int, height: int) -> list[str]:
    return ["-f", "lavfi", "-i", f"testsrc2=size={width}x{height}:rate=25:duration={SECONDS}"]


def _ffmpeg(folder: Path, *arguments: str) -> None:
    subprocess.run(
        [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-y", *arguments], cwd=folder, check=True, timeout=60
    )
