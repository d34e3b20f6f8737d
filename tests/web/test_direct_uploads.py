"""Uploads to a site on an account, as a program meets them: blocks go to the store by the address the site gives."""

import base64
import hashlib
from collections.abc import Callable
from datetime import timedelta
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest

from shared.services import Services
from shared.videos import SOURCES
from tests.web.conftest import Uploading


@pytest.fixture
def backend() -> str:
    return "azure"


@pytest.fixture
def upload(uploading: Callable[..., Uploading]) -> Uploading:
    upload = uploading(bytes(range(256)) * 40)
    assert upload.open().status_code == 201
    return upload


def put(upload: Uploading, block_id: str, piece: bytes, *, md5: bytes | None = None) -> int:
    digest = md5 or hashlib.md5(piece, usedforsecurity=False).digest()
    headers = {**upload.opened["block_headers"], "Content-MD5": base64.b64encode(digest).decode()}
    url = upload.opened["block_url"].replace("{block_id}", quote(block_id, safe=""))
    try:
        with urlopen(Request(url, piece, headers, method="PUT")) as answer:
            return int(answer.status)
    except HTTPError as error:
        with error:
            return error.code


def put_all(upload: Uploading) -> None:
    for block_id, piece in reversed(upload.blocks.items()):
        assert put(upload, block_id, piece) == 201


def state(upload: Uploading) -> dict:
    address = f"/api/v1/uploads/{upload.opened['video_id']}"
    return upload.someone.client.get(address, headers=upload.someone.headers).json


def test_blocks_sent_in_any_order_become_the_source(upload: Uploading, services: Services) -> None:
    assert upload.opened["block_url"].startswith(str(services.blobs.browser_origin()))
    put_all(upload)
    answer = upload.commit()
    assert (answer.status_code, answer.json["state"]) == (202, "queued")
    assert services.blobs.get(SOURCES, services.catalog.get(upload.opened["video_id"]).source) == upload.content
    assert services.queues.depth("ingest").messages == 1
    assert upload.commit().status_code == 202, "asked again it is the same video"


def test_one_cut_short_says_what_is_here_and_gives_an_address_for_the_rest(upload: Uploading) -> None:
    first, *others = upload.blocks
    for block_id in others:
        put(upload, block_id, upload.blocks[block_id])
    answer = upload.commit()
    assert answer.status_code == 400
    assert first in answer.json["error"]["message"]
    standing = state(upload)
    assert {block["id"] for block in standing["blocks"]} == set(others)
    upload.opened = standing
    assert put(upload, first, upload.blocks[first]) == 201
    assert upload.commit().status_code == 202


def test_a_corrupt_block_is_refused_and_the_good_one_sent_before_stays(upload: Uploading, services: Services) -> None:
    put_all(upload)
    assert put(upload, next(iter(upload.blocks)), b"corrupt!", md5=b"0" * 16) == 400
    assert upload.commit().status_code == 202
    assert services.blobs.get(SOURCES, services.catalog.get(upload.opened["video_id"]).source) == upload.content


def test_more_bytes_than_announced_do_not_become_a_video(upload: Uploading) -> None:
    put_all(upload)
    assert put(upload, next(iter(upload.blocks)), b"y" * 5000) == 201
    answer = upload.commit()
    assert answer.status_code == 400
    assert "announced" in answer.json["error"]["message"]
    assert state(upload)["state"] == "uploading"


def test_a_cancelled_upload_leaves_no_blocks(upload: Uploading, services: Services) -> None:
    put_all(upload)
    address = f"/api/v1/uploads/{upload.opened['video_id']}"
    assert upload.someone.client.delete(address, headers=upload.someone.headers).status_code == 204
    assert list(services.blobs.list_uncommitted(SOURCES)) == []


def test_an_address_is_given_to_the_uploader_alone_for_that_blob_alone_and_not_to_read(
    upload: Uploading, someone: Callable, services: Services
) -> None:
    put_all(upload)
    other = someone("boris")
    assert other.client.get(f"/api/v1/uploads/{upload.opened['video_id']}", headers=other.headers).status_code == 403
    url = upload.opened["block_url"]
    with pytest.raises(HTTPError) as refused:
        urlopen(url.partition("&comp=")[0])
    assert refused.value.code in (403, 404)
    refused.value.close()
    services.blobs.put(SOURCES, "another/g1", b"mine")
    upload.opened["block_url"] = url.replace(f"{upload.opened['video_id']}/g1", "another/g1")
    assert put(upload, next(iter(upload.blocks)), b"evil") == 403


def test_once_it_is_over_no_address_of_the_store_is_given(upload: Uploading, services: Services) -> None:
    put_all(upload)
    assert upload.commit().status_code == 202
    assert str(services.blobs.browser_origin()) not in state(upload)["block_url"]


def test_what_a_page_may_load_names_the_store(upload: Uploading, services: Services) -> None:
    policy = upload.someone.client.get("/").headers["Content-Security-Policy"]
    assert f"connect-src 'self' {services.blobs.browser_origin()};" in policy


def test_an_address_is_good_for_as_long_as_the_setting_says(upload: Uploading, services: Services) -> None:
    short = services.blobs.block_address(SOURCES, "x/g1", expires_in=timedelta(seconds=-10))
    assert short is not None
    upload.opened["block_url"] = short.url
    assert put(upload, next(iter(upload.blocks)), b"late") == 403
