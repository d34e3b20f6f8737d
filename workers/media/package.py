"""Finished segments become one progressive MP4, without encoding anything again."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ffmpeg

from shared.errors import Busy
from workers.media.ffmpeg import Failed, Work, run
from workers.media.hls import read_playlist

MP4 = "video.mp4"


def package(playlists: Sequence[Path], folder: Path, work: Work) -> dict[str, Any]:
    """Join renditions (each playlist beside its init section and segments) into `folder`/video.mp4.

    These files are our own, so ffmpeg reads them from the disk; an init section followed by its segments is one
    valid fragmented MP4. Raises Busy if they cannot be joined (work to do again).
    """
    joined = [_joined(playlist, folder / f"joined-{number}.mp4") for number, playlist in enumerate(playlists)]
    inputs = [ffmpeg.input(str(path), protocol_whitelist="file", format_whitelist="mov") for path in joined]
    output = ffmpeg.output(*inputs, str(folder / MP4), **{"c": "copy", "movflags": "+faststart", "f": "mp4"})
    try:
        run(output.get_args(), work)
    except Failed as error:
        raise Busy(f"the segments could not be joined: {error}") from error
    finally:
        for path in joined:
            path.unlink()
    return {"mp4": MP4, "size": (folder / MP4).stat().st_size}


def _joined(playlist: Path, target: Path) -> Path:
    described = read_playlist(playlist)
    with target.open("wb") as out:
        for name in (described.init, *(name for name, _ in described.segments)):
            out.write((playlist.parent / name).read_bytes())
    return target
