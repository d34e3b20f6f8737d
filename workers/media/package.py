"""Finished segments become one progressive MP4, without encoding anything again."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ffmpeg

from workers.media.allowed import PROTOCOLS
from workers.media.ffmpeg import Failed, Work, run
from workers.media.room import room_in
from workers.media.verify import Incomplete, is_short

MP4 = "video.mp4"


def package(urls: Sequence[str], folder: Path, work: Work, *, duration: float) -> dict[str, Any]:
    """Join renditions of `duration` seconds, each one fragmented MP4 at its URL, into `folder`/video.mp4.

    Raises Incomplete if they cannot be joined, Full if the disk had no room for it.
    """
    inputs = [
        ffmpeg.input(url, protocol_whitelist=PROTOCOLS, format_whitelist="mov") for url in urls
    ]
    output = ffmpeg.output(*inputs, str(folder / MP4), **{"c": "copy", "movflags": "+faststart", "f": "mp4"})
    with room_in(folder, work.settings.min_free):
        try:
            ran = run(output.get_args(), work, duration=duration)
        except Failed as error:
            raise Incomplete(f"the segments could not be joined: {error}") from error
        if is_short(ran.seconds, duration):
            raise Incomplete(f"{ran.seconds:.1f} of {duration:.1f} s were joined: {ran.complaints}")
        return {"mp4": MP4, "size": (folder / MP4).stat().st_size}
