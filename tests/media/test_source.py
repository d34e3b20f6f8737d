"""The loopback reader: ranges, one blob only, one version only."""

import urllib.error
import urllib.request

import pytest

from shared.clock import SystemClock
from shared.errors import NotFound
from shared.local.blobs import LocalBlobs
from workers.media import source


def get(url: str, **headers: str) -> tuple[int, bytes]:
    request = urllib.request.Request(url, headers={name.replace("_", "-"): value for name, value in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, b""


@pytest.fixture
def blobs(tmp_path):
    blobs = LocalBlobs(tmp_path, SystemClock(), secret="")
    blobs.create_container("sources")
    blobs.put("sources", "v/g1", bytes(range(256)) * 100)
    return blobs


def test_ranges_are_those_asked_for(blobs):
    content = bytes(range(256)) * 100
    with source.serve(blobs, "sources", "v/g1") as url:
        assert get(url) == (200, content)
        assert get(url, Range="bytes=5-9") == (206, content[5:10])
        assert get(url, Range="bytes=25000-") == (206, content[25000:])
        assert get(url, Range="bytes=-6") == (206, content[-6:])
        assert get(url, Range="bytes=25600-")[0] == 416


def test_nothing_but_the_one_blob_can_be_read(blobs):
    with source.serve(blobs, "sources", "v/g1") as url:
        root = url.rsplit("/", 1)[0]
        for path in ("/", "/v/g1", "/sources/v/g1", "/../../etc/passwd"):
            assert get(root + path)[0] == 404


def test_once_it_is_over_the_address_is_dead(blobs):
    with source.serve(blobs, "sources", "v/g1") as url:
        pass
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(url, timeout=2)


def test_a_source_that_is_not_there_is_said_at_once(blobs):
    with pytest.raises(NotFound), source.serve(blobs, "sources", "nothing"):
        pass
