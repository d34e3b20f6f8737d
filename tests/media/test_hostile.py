"""Files that are no video, or mean harm: refused with what they are, and without doing what they ask."""

import http.server
import threading
from dataclasses import replace

import pytest

from shared.errors import Permanent
from shared.settings import Settings
from tests.media.reading import ffmpeg
from workers.media import look
from workers.media.allowed import source_options
from workers.media.encode import encode_part
from workers.media.ffmpeg import Failed, run
from workers.media.plan import make_plan
from workers.media.probe import probe


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "empty"),
        (b"<html><body>502 Bad Gateway</body></html>", "web page"),
        (b"<!DOCTYPE html>\n<p>hello", "web page"),
        (b"#EXTM3U\n#EXTINF:10,\nhttp://127.0.0.1/x.ts\n#EXT-X-ENDLIST\n", "playlists cannot be uploaded"),
        (b"ffconcat version 1.0\nfile '/etc/passwd'\n", "playlists cannot be uploaded"),
        (b"<?xml version='1.0'?>\n<MPD xmlns='urn:mpeg:dash:schema:mpd:2011'>", "playlists cannot be uploaded"),
        (b"[playlist]\nFile1=http://127.0.0.1/\n", "playlists cannot be uploaded"),
        (b"just some text\n" * 50, "a text, not a video"),
        ("Grüße\n".encode() * 200, "a text, not a video"),
        (b"\x00" * 5000, "only zeros"),
        (b"\x89PNG\r\n\x1a\n" + b"x" * 100, "an image, not a video"),
        (b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic", "an image, not a video"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "an image, not a video"),
        (b"PK\x03\x04" + b"x" * 100, "an archive"),
        (b"%PDF-1.7\n", "a document"),
        (bytes(range(1, 256)) * 20, "not a video that can be read"),
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


def test_a_picture_too_large_is_refused_as_that(served, a_clip, work):
    small = replace(work, settings=Settings(max_pixels=1000))
    with pytest.raises(Permanent, match="larger than this site can show"):
        probe(served(a_clip("plain")), small)


def test_a_picture_that_hides_its_size_is_refused_by_the_decoder(served, a_clip, work, tmp_path):
    url = served(a_clip("plain"))
    part = make_plan(probe(url, work)).part("first")
    with pytest.raises(Permanent):
        encode_part(url, part, tmp_path, replace(work, settings=Settings(max_pixels=1000)))


@pytest.fixture
def internal():
    """A server on this machine, and what it was asked for."""
    asked: list[str] = []

    class Internal(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *args):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Internal)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


@pytest.fixture
def playlists(internal, a_clip, tmp_path):
    """Lists that name a file of the machine, and an internal address."""
    secret = tmp_path / "secret.ts"
    ffmpeg("-i", str(a_clip("plain")), "-c", "copy", str(secret))
    targets = [f"file://{secret}", str(secret), f"{internal[0]}/internal.ts"]
    hls = [f"#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10.0,\n{target}\n#EXT-X-ENDLIST\n" for target in targets]
    disguised = ["\ufeff" + text for text in hls] + ["  \n" + text for text in hls]
    concat = [f"ffconcat version 1.0\nfile '{target}'\n" for target in targets]
    return [text.encode() for text in (*hls, *disguised, *concat)]


def test_a_playlist_named_like_a_video_reads_no_file_and_calls_nobody(served, work, playlists, internal):
    for text in playlists:
        with pytest.raises(Permanent, match="playlists cannot be uploaded"):
            probe(served(text), work)
    assert internal[1] == []


def test_ffprobe_itself_refuses_a_playlist_whatever_the_first_look_says(
    served, work, playlists, internal, monkeypatch
):
    monkeypatch.setattr(look, "_kind", lambda head: "")
    for text in playlists:
        with pytest.raises(Permanent, match="not a video"):
            probe(served(text), work)
    assert internal[1] == []


def test_ffmpeg_itself_refuses_a_playlist_even_if_told_to_take_it_for_one(served, work, playlists, internal):
    options = [text for name, value in source_options(work.settings).items() for text in (f"-{name}", str(value))]
    for text in playlists:
        with pytest.raises(Failed):
            run([*options, *taken_for_a_playlist(text), "-i", served(text), "-f", "null", "-"], work)
    assert internal[1] == []


def test_without_the_fence_a_playlist_would_be_followed(served, work, playlists, internal):
    """So that the tests above are known to test something."""
    calling = [text for text in playlists if internal[0].encode() in text and not text.startswith((b" ", b"\xef"))]
    for text in calling:
        with pytest.raises(Failed):
            run([*taken_for_a_playlist(text), "-i", served(text), "-f", "null", "-"], work)
    assert internal[1] == ["/internal.ts"] * len(calling)


def taken_for_a_playlist(text: bytes) -> list[str]:
    concat = ["-f", "concat", "-safe", "0"]
    return concat if text.startswith(b"ffconcat") else ["-f", "hls", "-extension_picky", "0"]
