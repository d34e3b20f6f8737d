"""Links that lead to the site itself, as the embedded storage signs them."""

from datetime import timedelta

import pytest


@pytest.fixture
def video(a_video, someone):
    return a_video(someone().person)


def test_a_signed_link_opens_one_blob_until_it_expires(nobody, services, video):
    link = services.blobs.signed_url("media", f"{video.id}/g1/first/aa/360p_00000.m4s", right="read",
                                     expires_in=timedelta(minutes=1))
    assert nobody.get(link).data == b"0123456789"
    assert nobody.get(link.replace("360p_00000", "360p_00001")).status_code == 403
    assert nobody.put(link, data=b"x").status_code == 403
    assert nobody.get(link.split("?")[0]).status_code == 403


@pytest.mark.parametrize("name", ["/first", "a//b", "ä /ö?#", "plain"])
def test_a_signed_link_works_for_any_name(nobody, services, name):
    services.blobs.put("media", name, b"the bytes", content_type="text/html")
    link = services.blobs.signed_url("media", name, right="read", expires_in=timedelta(minutes=1))
    answer = nobody.get(link)
    assert answer.data == b"the bytes"
    assert answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"


def test_a_link_to_write_takes_one_blob(nobody, services):
    link = services.blobs.signed_url("media", "given", right="write", expires_in=timedelta(minutes=1))
    assert nobody.put(link, data=b"the bytes", content_type="text/plain").status_code == 201
    assert services.blobs.get("media", "given") == b"the bytes"
    assert nobody.get(link).status_code == 403


@pytest.mark.parametrize("expires", ["²", "-1", "", "9" * 30])
def test_a_link_with_no_sensible_end_is_refused(nobody, expires):
    answer = nobody.get("/blobs/media/x", query_string={"right": "read", "expires": expires, "signature": "x"})
    assert answer.status_code == 403
