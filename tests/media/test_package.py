"""The progressive MP4 is the segments, joined."""

from tests.media.conftest import described
from workers.media.package import package


def test_the_mp4_holds_picture_and_sound_of_the_whole_length_with_its_index_in_front(made, work, tmp_path):
    out = made("large", only={"first", "audio"})
    playlists = [out.folder / "first/360p.m3u8", out.folder / "audio/audio.m3u8"]
    target = tmp_path / "packaged"
    target.mkdir()
    result = package(playlists, target, work)
    path = target / result["mp4"]
    about = described(path)
    assert sorted(stream["codec_name"] for stream in about["streams"]) == ["aac", "h264"]
    assert abs(float(about["format"]["duration"]) - 5.0) < 0.15
    assert result["size"] == path.stat().st_size
    data = path.read_bytes()
    assert data.find(b"moov") < data.find(b"mdat")
    assert [found.name for found in target.iterdir()] == ["video.mp4"]
