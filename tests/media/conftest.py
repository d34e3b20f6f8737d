"""Clips, and a source served as workers see it."""

import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from shared.clock import SystemClock
from shared.local.blobs import LocalBlobs
from shared.settings import Settings
from shared.videos import Part, PartPlan, Plan
from tests.media import clips
from workers.media import source
from workers.media.encode import encode_part
from workers.media.ffmpeg import Work, ffprobe_path
from workers.media.plan import make_plan
from workers.media.probe import Probe, probe


@pytest.fixture(scope="session")
def a_clip(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("clips")
    return lambda kind: clips.make(kind, folder)


@pytest.fixture
def work() -> Work:
    return Work(settings=Settings(), stopped=threading.Event())


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Callable[[Path | bytes], str]]:
    """The address of a clip, or of some bytes, as the loopback reader gives it to ffmpeg."""
    blobs = LocalBlobs(tmp_path / "blobs", SystemClock(), secret="")
    blobs.create_container("sources")
    with ExitStack() as open_sources:

        def serve(content: Path | bytes) -> str:
            name = content.name if isinstance(content, Path) else "bytes"
            blobs.put("sources", name, content.read_bytes() if isinstance(content, Path) else content)
            return open_sources.enter_context(source.serve(blobs, "sources", name))

        yield serve


class Made:
    """A source taken through probe, plan and the encoding of its parts."""

    def __init__(self, url: str, folder: Path, work: Work, only: set[str] | None = None) -> None:
        self.url, self.folder, self.work = url, folder, work
        self.probe: Probe = probe(url, work)
        self.plan: Plan = make_plan(self.probe)
        self.parts: dict[str, Part] = {}
        for part in self.plan.parts:
            if part.kind == "encode" and (only is None or part.name in only):
                self.parts[part.name] = Part(name=part.name, attempt="aa", result=self.encode(part))

    def encode(self, part: PartPlan) -> dict[str, Any]:
        folder = self.folder / part.name
        folder.mkdir()
        return encode_part(self.url, part, folder, self.work)

    @property
    def renditions(self) -> dict[str, dict[str, Any]]:
        return {
            rendition["name"]: {**rendition, "folder": self.folder / name}
            for name, part in self.parts.items()
            for rendition in part.result["renditions"]
        }

    def whole(self, name: str) -> Path:
        """A rendition as one file: its init section and all its segments."""
        from workers.media.hls import read_playlist

        rendition = self.renditions[name]
        playlist = read_playlist(rendition["folder"] / rendition["playlist"])
        target = self.folder / f"{name}.whole.mp4"
        with target.open("wb") as out:
            for file in (playlist.init, *(file for file, _ in playlist.segments)):
                out.write((rendition["folder"] / file).read_bytes())
        return target


@pytest.fixture
def made(served, a_clip, work: Work, tmp_path: Path) -> Callable[..., Made]:
    def make(clip: str | Path | bytes, *, only: set[str] | None = None) -> Made:
        folder = tmp_path / "made"
        folder.mkdir()
        return Made(served(a_clip(clip) if isinstance(clip, str) else clip), folder, work, only)

    return make


def described(path: Path, *more: str) -> dict[str, Any]:
    """What ffprobe says of one of our own files."""
    command = [ffprobe_path(Settings()), "-v", "error", "-show_streams", "-show_format", *more, "-of", "json", str(path)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, timeout=60).stdout)
