"""Signed links: one right on one blob, for a time."""

from datetime import timedelta
from urllib.parse import quote

import pytest

from shared.blobs import Blobs
from shared.errors import Invalid
from tests.contract.backend import Backend
from tests.contract.making import block_id

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


def test_blocks_are_sent_to_an_address_of_the_store_or_through_whoever_stages_them(
    backend: Backend, blobs: Blobs, container: str
) -> None:
    address = blobs.block_address(container, "up/ünï?#", expires_in=A_MINUTE)
    assert (address is None) == (blobs.browser_origin() is None)
    if address is None:
        return
    assert address.url.startswith(f"{blobs.browser_origin()}/")
    for number in (1, 0):
        url = address.url.replace("{block_id}", quote(block_id(number), safe=""))
        assert backend.fetch("PUT", url, b"part %d" % number)[0] == 201
    assert {block.id for block in blobs.get_block_list(container, "up/ünï?#").staged} == {block_id(0), block_id(1)}
    blobs.commit_block_list(container, "up/ünï?#", [block_id(0), block_id(1)])
    assert blobs.get(container, "up/ünï?#") == b"part 0part 1"
    reading = address.url.partition("&comp=")[0]
    assert backend.fetch("GET", reading, None)[0] == 403, "it gives no right to read"


def test_links_lead_where_the_store_says(blobs: Blobs, container: str) -> None:
    url = blobs.signed_url(container, "a", right="read", expires_in=A_MINUTE)
    assert url.startswith(blobs.browser_origin() or "/")
