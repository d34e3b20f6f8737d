"""Delivery: ranges, conditions, caches."""

import pytest

pytestmark = pytest.mark.parametrize("backend", ["azure", "local"])


@pytest.fixture
def video(a_video, someone):
    return a_video(someone().person)


def segment(video) -> str:
    return f"/media/{video.id}/g1/first/aa/360p_00000.m4s"


@pytest.mark.parametrize(
    ("asked", "status", "content", "content_range"),
    [
        ("bytes=2-4", 206, b"234", "bytes 2-4/10"),
        ("bytes=7-", 206, b"789", "bytes 7-9/10"),
        ("bytes=-3", 206, b"789", "bytes 7-9/10"),
        ("bytes=5-500", 206, b"56789", "bytes 5-9/10"),
        ("bytes=-99999999999999999999", 206, b"0123456789", "bytes 0-9/10"),
        ("bytes=-0", 416, b"", "bytes */10"),
        ("bytes=10-12", 416, b"", "bytes */10"),
        ("bytes=1-2,5-6", 200, b"0123456789", None),
        ("lines=1-2", 200, b"0123456789", None),
    ],
)
def test_a_range_is_answered_with_just_those_bytes(nobody, video, asked, status, content, content_range):
    answer = nobody.get(segment(video), headers={"Range": asked})
    assert (answer.status_code, answer.data, answer.headers.get("Content-Range")) == (status, content, content_range)


def test_what_one_has_already_is_not_sent_again(nobody, video):
    first = nobody.get(segment(video))
    again = nobody.get(segment(video), headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304
    assert again.data == b""
    assert nobody.get(segment(video), headers={"If-None-Match": '"other"'}).status_code == 200


def test_a_range_of_another_version_is_answered_with_the_whole(nobody, video):
    answer = nobody.get(segment(video), headers={"Range": "bytes=0-1", "If-Range": '"old"'})
    assert (answer.status_code, answer.data) == (200, b"0123456789")


def test_segments_are_kept_for_ever_and_the_playlist_is_asked_for_anew(nobody, video):
    assert "immutable" in nobody.get(segment(video)).headers["Cache-Control"]
    assert "no-cache" in nobody.get(f"/media/{video.id}/master.m3u8").headers["Cache-Control"]


def test_shared_caches_keep_only_what_everybody_may_see(someone, a_video):
    anna = someone()
    for privacy, scope in (("public", "public"), ("unlisted", "private"), ("private", "private")):
        video = a_video(anna.person, privacy=privacy)
        answer = anna.client.get(segment(video), headers=anna.headers)
        assert answer.headers["Cache-Control"].startswith(scope), privacy


def test_types_are_those_players_expect(nobody, video):
    for file, kind in (
        ("master.m3u8", "application/vnd.apple.mpegurl"), ("video.mp4", "video/mp4"), ("poster.jpg", "image/jpeg"),
        ("storyboard.vtt", "text/vtt"),
    ):
        answer = nobody.get(f"/media/{video.id}/{file}")
        assert answer.status_code == 200
        assert answer.mimetype == kind


def test_head_tells_the_length_without_the_bytes(nobody, video):
    answer = nobody.head(segment(video))
    assert (answer.status_code, answer.headers["Content-Length"], answer.data) == (200, "10", b"")


def test_what_is_not_made_yet_is_said_so(nobody, a_video, someone):
    from shared.videos import Playback

    video = a_video(someone("boris").person, state="processing", playback=Playback())
    answer = nobody.get(f"/media/{video.id}/master.m3u8")
    assert answer.status_code == 404
    assert "processing" in answer.text


@pytest.mark.parametrize("path", ["../sources/x", "%2e%2e/%2e%2e/etc/passwd", "g1/../../other/g1/a", "nothing"])
def test_no_path_leads_out_of_a_videos_folder(nobody, video, path):
    assert nobody.get(f"/media/{video.id}/{path}").status_code == 404


def test_a_download_is_named_after_the_video(nobody, a_video, someone):
    video = a_video(someone("boris").person, title="Ночь / на море")
    answer = nobody.get(f"/media/{video.id}/video.mp4?download=1")
    assert "filename*=UTF-8''" in answer.headers["Content-Disposition"]


def test_a_range_that_is_the_whole_is_answered_as_a_range_so_that_players_know_they_may_seek(nobody, video):
    answer = nobody.get(segment(video), headers={"Range": "bytes=0-"})
    assert (answer.status_code, answer.headers["Content-Range"]) == (206, "bytes 0-9/10")


def test_a_head_has_no_range(nobody, video):
    answer = nobody.head(segment(video), headers={"Range": "bytes=2-4"})
    assert (answer.status_code, answer.headers["Content-Length"]) == (200, "10")


def test_no_cache_keeps_the_answer_to_a_range_that_cannot_be(nobody, video):
    answer = nobody.get(segment(video), headers={"Range": "bytes=10-"})
    assert (answer.status_code, answer.headers["Cache-Control"]) == (416, "no-store")


def test_players_on_other_sites_read_what_is_open_and_nothing_private(someone, a_video):
    anna = someone()
    for privacy, allowed in (("public", "*"), ("unlisted", "*"), ("private", None)):
        video = a_video(anna.person, privacy=privacy, findable=False)
        answer = anna.client.get(segment(video), headers=anna.headers)
        assert answer.headers.get("Access-Control-Allow-Origin") == allowed, privacy
    asked = anna.client.options(segment(video))
    assert (asked.status_code, asked.headers["Access-Control-Allow-Headers"]) == (204, "Range, If-None-Match")
