"""The progressive MP4 is the segments, joined."""

import pytest

from tests.media.reading import described
from workers.media import source
from workers.media.hls import read_playlist
from workers.media.package import package
from workers.media.verify import Incomplete


@pytest.fixture
def joined(made, blobs, work, tmp_path):
    """The MP4 of picture and sound, each read from its blobs as one file."""
    out = made("large", only=("first", "audio"))
    urls = []

    def make(duration=5.0):
        with source.serve(blobs, "sources", *stored("360p")) as video, \
                source.serve(blobs, "sources", *stored("audio")) as audio:  # fmt: skip
            urls[:] = [video, audio]
            return package(urls, target, work, duration=duration), target

    def stored(name):
        folder = out.renditions[name]["folder"]
        files = read_playlist(folder / out.renditions[name]["playlist"]).files
        for file in files:
            blobs.put("sources", file, (folder / file).read_bytes())
        return files

    target = tmp_path / "packaged"
    target.mkdir()
    return make


def test_the_mp4_holds_picture_and_sound_of_the_whole_length_with_its_index_in_front(joined):
    result, folder = joined()
    path = folder / result["mp4"]
    about = described(path)
    assert sorted(stream["codec_name"] for stream in about["streams"]) == ["aac", "h264"]
    assert float(about["format"]["duration"]) == pytest.approx(5.0, abs=0.05)
    assert result["size"] == path.stat().st_size
    data = path.read_bytes()
    assert data.find(b"moov") < data.find(b"mdat")
    assert [found.name for found in folder.iterdir()] == ["video.mp4"]


def test_an_mp4_shorter_than_what_it_is_made_of_is_not_accepted(joined):
    with pytest.raises(Incomplete):
        joined(duration=8.0)
