"""A source that holds less than its header promises: what plays, what it says of its length, and what its owner reads."""

from pathlib import Path

import pytest

from shared.notes import owner_notes
from shared.services import Services
from shared.videos import MEDIA, Video, part_prefix
from tests.media.reading import described
from tests.workers.clips import a_clip_cut_short
from tests.workers.making import a_video, an_ingest
from tests.workers.test_path import work_all
from workers.media.hls import parse_playlist
from workers.scratch import Scratch

PROMISED = 4.0


@pytest.fixture
def video(services: Services, scratch: Scratch) -> Video:
    """Taken through every handler."""
    video = a_video(services, source=a_clip_cut_short(seconds=PROMISED))
    services.tickets.send(an_ingest(services, video))
    work_all(services, scratch)
    return services.catalog.get(video.id)


def playlist_lengths(services: Services, video: Video) -> list[float]:
    lengths = []
    for part in services.catalog.parts(video.id, 1).values():
        for rendition in part.result.get("renditions", []):
            name = part_prefix(video.id, 1, part.name, part.attempt) + rendition["playlist"]
            playlist = parse_playlist(services.blobs.get(MEDIA, name).decode())
            lengths.append(sum(seconds for _, seconds in playlist.segments))
    return lengths


def test_it_is_as_long_as_what_plays_in_every_form(services: Services, video: Video, tmp_path: Path) -> None:
    assert video.state == "published"
    assert services.catalog.plan(video.id, 1).duration == pytest.approx(PROMISED, abs=0.1)
    lengths = playlist_lengths(services, video)
    assert len(lengths) == 2
    assert video.duration == pytest.approx(max(lengths), abs=0.001)
    assert 1.5 < video.duration < 3.5
    mp4 = tmp_path / "video.mp4"
    mp4.write_bytes(services.blobs.get(MEDIA, video.playback.mp4 or ""))
    assert float(described(mp4)["format"]["duration"]) == pytest.approx(video.duration, abs=0.05)


def test_its_storyboard_ends_where_its_picture_does(services: Services, video: Video) -> None:
    cues = [line for line in storyboard(services, video) if "-->" in line]
    [picture] = services.catalog.parts(video.id, 1)["first"].result["renditions"]
    assert cues[-1].endswith(f"00:00:{picture['duration']:06.3f}")


def test_its_owner_is_told_of_its_picture_and_of_its_sound(services: Services, video: Video) -> None:
    said = owner_notes(video, services.catalog.plan(video.id, 1), services.catalog.parts(video.id, 1))
    assert [note.split(":")[0] for note in said] == ["the file ends early"] * 2
    assert [note.rpartition(" of its ")[2] for note in said] == ["picture are there", "sound are there"]


def storyboard(services: Services, video: Video) -> list[str]:
    return services.blobs.get(MEDIA, video.playback.storyboard or "").decode().splitlines()
