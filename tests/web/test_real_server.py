"""What only a real server shows: memory, connections that break, bytes on the wire."""

import base64
import hashlib
import os
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from shared.people import Person
from shared.services import Services, open_services
from shared.settings import Settings
from shared.videos import MEDIA, SOURCES, Video, new_video_id
from tests.web.server import Server, a_server

MIB = 1024**2
MOST_MEMORY = 150 * MIB
BLOCKS = 48


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Services, Person]]:
    folder: Path = tmp_path_factory.mktemp("site")
    settings = Settings(storage=f"local:{folder}/data", secret_key="a key for tests", block_size=8 * MIB, min_free=0)
    services = open_services(settings, caller="test")
    anna = services.people.create("anna", "no password")
    with a_server(settings, services.people.create_token(anna.id, "test")) as server:
        yield server, services, anna


def block_id(number: int) -> str:
    return base64.b64encode(f"{number:06d}".encode()).decode()


def md5(data: bytes) -> str:
    return base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()


def opened(server: Server, size: int) -> dict[str, str]:
    return server.ask_json("POST", "/api/v1/uploads", {"filename": "sea.mp4", "size": size})


@pytest.mark.parametrize("at_once", [8, 40])
def test_memory_stays_flat_however_large_the_upload(site, at_once):
    server, services, _ = site
    piece = os.urandom(8 * MIB)
    upload = opened(server, BLOCKS * len(piece))
    checksum = md5(piece)

    def send(number: int) -> int:
        address = upload["block_url"].replace("{block_id}", block_id(number))
        return server.ask("PUT", address, piece, Content_MD5=checksum, **upload["block_headers"])[0]

    with ThreadPoolExecutor(at_once) as many:
        assert set(many.map(send, range(BLOCKS))) == {201}
    ids = [block_id(number) for number in range(BLOCKS)]
    done = server.ask_json("POST", f"/api/v1/uploads/{upload['video_id']}/commit", {"blocks": ids})
    assert done["state"] == "queued"
    source = services.catalog.get(upload["video_id"]).source
    assert services.blobs.stat(SOURCES, source).size == BLOCKS * len(piece)
    assert server.most_memory() < MOST_MEMORY


def test_a_block_cut_off_on_its_way_leaves_the_one_that_was_there(site):
    server, services, _ = site
    upload = opened(server, 10)
    address = upload["block_url"].replace("{block_id}", block_id(0))
    assert server.ask("PUT", address, b"0123456789")[0] == 201
    path = address.partition(":")[2].removeprefix("//").partition("/")[2]
    head = f"PUT /{path} HTTP/1.1\r\nHost: here\r\nContent-Length: 10\r\nAuthorization: Bearer {server.token}\r\n\r\n"
    with socket.create_connection(server.address) as connection:
        connection.sendall(head.encode() + b"cut")
        connection.shutdown(socket.SHUT_WR)
        answer = connection.recv(65536)
    assert answer.startswith(b"HTTP/1.1 400")
    shown = server.ask_json("GET", f"/api/v1/uploads/{upload['video_id']}")
    assert shown["blocks"] == [{"id": block_id(0), "size": 10}]
    server.ask_json("POST", f"/api/v1/uploads/{upload['video_id']}/commit", {"blocks": [block_id(0)]})
    assert services.blobs.get(SOURCES, services.catalog.get(upload["video_id"]).source) == b"0123456789"


def test_a_request_without_a_length_cannot_fill_the_memory(site):
    server, _, _ = site
    head = (
        "POST /api/v1/uploads HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n"
        f"Authorization: Bearer {server.token}\r\n\r\n"
    )
    piece = b"100000\r\n" + b" " * MIB + b"\r\n"
    with socket.create_connection(server.address) as connection:
        connection.sendall(head.encode())
        with suppress(OSError):  # it hangs up on us, as it should
            for _ in range(64):
                connection.sendall(piece)
        assert server.ask("GET", "/health/live")[0] == 200
    assert server.most_memory() < MOST_MEMORY


def test_ranges_and_heads_are_exact_on_the_wire(site):
    server, services, anna = site
    video_id = new_video_id()
    services.catalog.add(
        Video(id=video_id, owner=anna.id, channel="anna", state="published", title="Sea", created=services.clock.now()),
        event="opened",
    )
    services.blobs.put(MEDIA, f"{video_id}/g1/first/aa/x.m4s", b"0123456789" * MIB, content_type="video/mp4")
    address = f"/media/{video_id}/g1/first/aa/x.m4s"
    status, headers, content = server.ask("GET", address, Range="bytes=5242879-9437183")
    assert (status, headers["Content-Length"], len(content)) == (206, "4194305", 4194305)
    assert content[:3] == b"901"
    status, headers, content = server.ask("HEAD", address)
    assert (status, headers["Content-Length"], content) == (200, str(10 * MIB), b"")
