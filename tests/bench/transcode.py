"""From commit to playable and to published, against one plain ffmpeg process per rung, the way PeerTube works."""

import subprocess
import time
from pathlib import Path
from typing import Any

from shared.services import open_services
from shared.settings import Settings
from shared.videos import Plan
from tests.bench.figure import Figure
from tests.bench.site import Client, a_site
from tests.infra.running import Site
from workers.media.ffmpeg import ffmpeg_path

PUBLISHED = 0.8
"""One decode and cascaded scaling cost 0.59-0.67 of the plain way's CPU seconds; pictures, the MP4, the index and the
queue in between have to fit into the rest of the saving."""
PLAYABLE = 0.3
"""Whoever waits should see the first picture long before the plain way has made all its rungs."""


def measure(folder: Path, *, quick: bool) -> list[Figure]:
    clip = _clip(folder / "clip.mp4", 6 if quick else 60)
    with a_site(folder / "data") as (site, client):
        playable, published = _ours(client, clip)
        plan = _plan(site, client)
    plain = _plain(clip, plan, folder)
    what = f"one plain ffmpeg per rung: {plain:.1f} s"
    return [
        _figure("playable", playable, plain, PLAYABLE, what),
        _figure("published", published, plain, PUBLISHED, what),
    ]


def _figure(state: str, seconds: float, plain: float, goal: float, against: str) -> Figure:
    return Figure(
        figure=f"commit to {state}",
        value=round(seconds, 1),
        unit="s",
        against=against,
        goal=f"at most {goal:g} of it",
        met=seconds <= goal * plain,
    )


def _ours(client: Client, clip: Path) -> tuple[float, float]:
    video = client.upload(clip)
    started, playable = time.perf_counter(), 0.0
    while True:
        state = client.video(video)["state"]
        if state in ("playable", "published") and not playable:
            playable = time.perf_counter() - started
        if state == "published":
            return playable, time.perf_counter() - started
        if state == "failed":
            raise RuntimeError(client.video(video)["reason"])
        time.sleep(0.05)


def _plan(site: Site, client: Client) -> Plan:
    secret = (site.data / "secret-key").read_text().strip()
    catalog = open_services(Settings(storage=f"local:{site.data}", secret_key=secret), caller="bench").catalog
    [video] = catalog.all()
    return catalog.plan(video.id, video.generation)


def _plain(clip: Path, plan: Plan, folder: Path) -> float:
    """The same rungs by the same codec settings, one process after the other, each with every core to itself."""
    rungs = [rung for part in plan.parts for rung in part.detail.get("rungs", [])]
    started = time.perf_counter()
    for rung in rungs:
        _encode(clip, rung, folder)
    return time.perf_counter() - started


def _encode(clip: Path, rung: dict[str, Any], folder: Path) -> None:
    rate = rung["rate"][0] / rung["rate"][1]
    name = rung["label"]
    _ffmpeg(
        "-i", str(clip), "-vf", f"scale={rung['width']}:{rung['height']},fps={rate:g}",
        "-c:v", "libx264", "-preset", "veryfast", "-profile:v", "high", "-crf", "23",
        "-maxrate", f"{rung['kbits']}k", "-bufsize", f"{rung['kbits'] * 2}k",
        "-g", str(round(rate * 2)), "-sc_threshold", "0", "-c:a", "aac", "-b:a", "128k",
        "-f", "hls", "-hls_time", "4", "-hls_playlist_type", "vod", "-hls_segment_type", "fmp4",
        "-hls_fmp4_init_filename", f"plain-{name}.mp4", str(folder / f"plain-{name}.m3u8"),
    )  # fmt: skip


def _clip(path: Path, seconds: int) -> Path:
    """Moving detail with some grain, and sound: neither a still nor pure noise."""
    _ffmpeg(
        "-f", "lavfi", "-i", f"testsrc2=size=1920x1080:rate=30:duration={seconds},noise=alls=12:allf=t",
        "-f", "lavfi", "-i", f"sine=frequency=440:duration={seconds}",
        "-c:v", "libx264", "-preset", "ultrafast", "-crf", "20", "-pix_fmt", "yuv420p", "-c:a", "aac", "-shortest",
        str(path),
    )  # fmt: skip
    return path


def _ffmpeg(*arguments: str) -> None:
    command = [ffmpeg_path(Settings()), "-nostdin", "-loglevel", "error", "-y", *arguments]
    subprocess.run(command, check=True)
