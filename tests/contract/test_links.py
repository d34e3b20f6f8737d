"""Signed links: one right on one blob, for a time."""

from datetime import timedelta
from urllib.parse import quote

import pytest

from shared.blobs import Blobs
from shared.errors import Invalid
from tests.contract.backend import Backend

A_MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize("name", ["a", "deep/er/name.mp4", "50% & ünï?code#.mp4"])
def test_a_link_to_read_gives_the_blob(backend: Backend, blobs: Blobs, container: str, name: str) -> None:
    blobs.put(container, name, b"hello")
    url = blobs.signed_url(container, name, right="read", expires_in=A_MINUTE)
    assert backend.fetch("GET", url, None) == (200, b"hello")


def test_a_link_to_write_takes_the_blob(backend: Backend, blobs: Blobs, container: str) -> None:
    url = blobs.signed_url(container, "a", right="write", expires_in=A_MINUTE)
    status, _ = backend.fetch("PUT", url, b"sent")
    assert status in (200, 201)
    assert blobs.get(container, "a") == b"sent"


def test_a_link_gives_one_right_only(backend: Backend, blobs: Blobs, container: str) -> None:
    blobs.put(container, "a", b"before")
    reading = blobs.signed_url(container, "a", right="read", expires_in=A_MINUTE)
    writing = blobs.signed_url(container, "a", right="write", expires_in=A_MINUTE)
    assert backend.fetch("PUT", reading, b"changed")[0] == 403
    assert backend.fetch("GET", writing, None)[0] == 403
    assert blobs.get(container, "a") == b"before"


def test_a_link_is_for_one_blob_only(backend: Backend, blobs: Blobs, container: str) -> None:
    blobs.put(container, "first", b"1")
    blobs.put(container, "other", b"2")
    url = blobs.signed_url(container, "first", right="read", expires_in=A_MINUTE)
    assert backend.fetch("GET", url.replace(quote("first"), quote("other")), None)[0] == 403


def test_a_link_expires(backend: Backend, blobs: Blobs, container: str) -> None:
    blobs.put(container, "a", b"x")
    url = blobs.signed_url(container, "a", right="read", expires_in=timedelta(seconds=2))
    assert backend.fetch("GET", url, None)[0] == 200
    backend.wait(4)
    assert backend.fetch("GET", url, None)[0] == 403


def test_a_forged_link_is_refused(backend: Backend, blobs: Blobs, container: str) -> None:
    blobs.put(container, "a", b"x")
    url = blobs.signed_url(container, "a", right="read", expires_in=A_MINUTE)
    forged = url[:-4] + ("aaaa" if not url.endswith("aaaa") else "bbbb")
    assert backend.fetch("GET", forged, None)[0] == 403


def test_an_unknown_right_is_refused(blobs: Blobs, container: str) -> None:
    with pytest.raises(Invalid):
        blobs.signed_url(container, "a", right="everything", expires_in=A_MINUTE)  # type: ignore[arg-type]
