"""What a look at a source finds, and the sentence its owner reads where it finds nothing to play."""

import http.server
import threading
from fractions import Fraction

import pytest

from shared.errors import Permanent
from tests.media.clips import ffmpeg
from workers.media.probe import probe


@pytest.mark.parametrize(
    ("clip", "width", "height"),
    [("plain", 320, 180), ("odd", 465, 307), ("portrait", 360, 640), ("anamorphic", 1024, 576)],
)
def test_the_size_is_the_one_shown_with_square_pixels(served, a_clip, work, clip, width, height):
    video = probe(served(a_clip(clip)), work).video
    assert (video.width, video.height) == (width, height)


def test_a_phones_portrait_is_upright(served, a_clip, work, tmp_path):
    turned = tmp_path / "turned.mp4"
    ffmpeg("-display_rotation:v:0", "-90", "-i", str(a_clip("silent")), "-c", "copy", str(turned))
    video = probe(served(turned), work).video
    assert (video.width, video.height) == (180, 320)


def test_interlaced_and_hdr_pictures_are_told(served, a_clip, work):
    assert probe(served(a_clip("interlaced")), work).video.interlaced
    assert probe(served(a_clip("hdr10")), work).video.hdr
    plain = probe(served(a_clip("plain")), work).video
    assert not plain.interlaced
    assert not plain.hdr


def test_a_length_nobody_wrote_down_is_measured(served, a_clip, work):
    assert probe(served(a_clip("endless")), work).duration == pytest.approx(2.0, abs=0.1)


def test_cover_art_is_no_video(served, a_clip, work):
    found = probe(served(a_clip("cover")), work)
    assert found.video is None
    assert found.cover is not None


def test_the_default_track_is_taken_and_the_owner_told_of_the_other(served, a_clip, work):
    found = probe(served(a_clip("two_tracks")), work)
    assert found.audio.index == 2
    assert any("left out" in note for note in found.notes)


def test_the_rate_of_slow_motion_is_the_sources(served, a_clip, work):
    assert Fraction(*probe(served(a_clip("slow")), work).video.rate) == 240


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"<html><body>502 Bad Gateway</body></html>", "web page"),
        (b"<!DOCTYPE html>\n<p>hello", "web page"),
        (b"#EXTM3U\n#EXTINF:10,\nhttp://127.0.0.1/x.ts\n#EXT-X-ENDLIST\n", "playlists cannot be uploaded"),
        (b"ffconcat version 1.0\nfile '/etc/passwd'\n", "playlists cannot be uploaded"),
        (b"just some text\n" * 50, "not a video"),
        (b"\x00" * 5000, "only zeros"),
        (b"\x89PNG\r\n\x1a\n" + b"x" * 100, "an image, not a video"),
    ],
)
def test_what_is_no_video_is_refused_with_what_it_is(served, work, content, sentence):
    with pytest.raises(Permanent, match=sentence):
        probe(served(content), work)


@pytest.mark.parametrize("clip", ["picture", "jpeg"])
def test_a_picture_is_no_video(served, a_clip, work, clip):
    with pytest.raises(Permanent, match="an image, not a video"):
        probe(served(a_clip(clip)), work)


def test_a_file_without_its_index_is_said_to_be_incomplete(served, a_clip, work):
    whole = a_clip("plain").read_bytes()
    with pytest.raises(Permanent, match="incomplete: its index"):
        probe(served(whole[: len(whole) * 6 // 10]), work)


def test_a_picture_too_large_to_decode_is_refused(served, a_clip, work):
    from dataclasses import replace

    from shared.settings import Settings
    from workers.media.encode import encode_part
    from workers.media.plan import make_plan

    small = replace(work, settings=Settings(max_pixels=1000))
    url = served(a_clip("plain"))
    part = make_plan(probe(url, work)).part("first")
    with pytest.raises(Permanent):
        encode_part(url, part, a_clip("plain").parent, small)


def test_a_playlist_in_disguise_reads_no_file_and_calls_nobody(served, a_clip, work, tmp_path):
    """The list is hidden behind bytes that are no "#EXTM3U" at first sight; only the format allow-list refuses it."""
    asked: list[str] = []

    class Internal(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *args):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Internal)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        secret = tmp_path / "secret.ts"
        ffmpeg("-i", str(a_clip("plain")), "-c", "copy", str(secret))
        for target in (f"file://{secret}", f"http://127.0.0.1:{server.server_port}/internal.ts"):
            for disguise in ("#EXTM3U\n", "\ufeff#EXTM3U\n", "  \n#EXTM3U\n"):
                text = f"{disguise}#EXT-X-TARGETDURATION:10\n#EXTINF:10.0,\n{target}\n#EXT-X-ENDLIST\n"
                with pytest.raises(Permanent):
                    probe(served(text.encode()), work)
        assert asked == []
    finally:
        server.shutdown()


def test_ffprobe_itself_refuses_a_playlist_whatever_our_look_says(served, work, monkeypatch):
    monkeypatch.setattr("workers.media.probe._refuse_by_look", lambda head: None)
    text = b"#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10.0,\nhttp://127.0.0.1:9/x.ts\n#EXT-X-ENDLIST\n"
    with pytest.raises(Permanent, match="not a video"):
        probe(served(text), work)
