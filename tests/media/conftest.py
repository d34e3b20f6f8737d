"""Clips, and a source served as workers see it."""

import secrets
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
from workers.media.ffmpeg import Work
from workers.media.hls import read_playlist
from workers.media.plan import make_plan
from workers.media.probe import Probe, probe


@pytest.fixture(scope="session")
def a_clip(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("clips")
    return lambda kind: clips.make(kind, folder)


@pytest.fixture
def work() -> Work:
    return a_work()


def a_work() -> Work:
    return Work(settings=Settings(), stopped=threading.Event())


@pytest.fixture(scope="session")
def blobs(tmp_path_factory: pytest.TempPathFactory) -> LocalBlobs:
    blobs = LocalBlobs(tmp_path_factory.mktemp("blobs"), SystemClock(), secret="")
    blobs.create_container("sources")
    return blobs


@pytest.fixture(scope="session")
def served(blobs: LocalBlobs) -> Iterator[Callable[[Path | bytes], str]]:
    """The address of a clip, or of some bytes, as the loopback reader gives it to ffmpeg."""
    with ExitStack() as serving:

        def serve(content: Path | bytes) -> str:
            name = secrets.token_hex(8)
            blobs.put("sources", name, content.read_bytes() if isinstance(content, Path) else content)
            return serving.enter_context(source.serve(blobs, "sources", name))

        yield serve


class Made:
    """A source taken through probe, plan and the encoding of its parts."""

    def __init__(self, url: str, folder: Path, work: Work, only: tuple[str, ...] | None = None) -> None:
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

    @property
    def video(self) -> dict[str, Any]:
        """The only rung."""
        [rendition] = [rendition for rendition in self.renditions.values() if rendition["kind"] == "video"]
        return rendition

    def segments(self, name: str) -> list[tuple[Path, float]]:
        rendition = self.renditions[name]
        playlist = read_playlist(rendition["folder"] / rendition["playlist"])
        return [(rendition["folder"] / file, seconds) for file, seconds in playlist.segments]

    def whole(self, name: str) -> Path:
        """A rendition as one file: its init section and all its segments."""
        rendition = self.renditions[name]
        playlist = read_playlist(rendition["folder"] / rendition["playlist"])
        target = self.folder / f"{name}.whole.mp4"
        with target.open("wb") as out:
            for file in playlist.files:
                out.write((rendition["folder"] / file).read_bytes())
        return target


@pytest.fixture(scope="session")
def made(served, a_clip, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Made]:
    """What becomes of a clip; made once for each clip and choice of parts, so look at it and leave it as it is."""
    known: dict[tuple[object, ...], Made] = {}

    def make(clip: str | Path | bytes, *, only: tuple[str, ...] | None = None) -> Made:
        key = (clip, only)
        if key not in known:
            url = served(a_clip(clip) if isinstance(clip, str) else clip)
            known[key] = Made(url, tmp_path_factory.mktemp("made"), a_work(), only)
        return known[key]

    return make
