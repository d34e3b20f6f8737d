"""A process frozen in the middle of a write: whoever asks the site for one is told soon to try again."""

import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from shared.services import Services, open_services
from shared.settings import Settings
from tests.web.conftest import send, sign_in
from tests.web.server import ROOT, Server, a_server

SOON = 3.0
FREEZE = """
import os, signal, sys
from pathlib import Path
from shared.clock import SystemClock
from shared.local.tables import LocalTables
LocalTables(Path(sys.argv[1]), SystemClock())._db.write(lambda _: os.kill(os.getpid(), signal.SIGSTOP))
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Services]]:
    folder = tmp_path_factory.mktemp("site")
    settings = Settings(storage=f"local:{folder}/data", secret_key="a key for tests", min_free=0)
    services = open_services(settings, caller="test")
    anna = services.people.create("anna", "no password")
    with a_server(settings, services.people.create_token(anna.id, "test")) as server:
        yield server, services


@contextmanager
def a_frozen_writer(services: Services) -> Iterator[None]:
    tables = services.settings.local_path() / "tables.db"
    with subprocess.Popen([sys.executable, "-c", FREEZE, str(tables)], cwd=ROOT) as process:
        try:
            until = time.monotonic() + 30
            while state_of(process.pid) != "T":
                assert time.monotonic() < until, "it never came to its write"
                time.sleep(0.01)
            yield
        finally:
            process.kill()


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_request_that_must_write_is_told_soon_to_come_back(site):
    server, services = site

    def open_upload(_: int) -> tuple[float, int, str | None]:
        began = time.monotonic()
        status, headers, _ = server.ask("POST", "/api/v1/uploads", b'{"filename": "sea.mp4", "size": 10}')
        return time.monotonic() - began, status, headers["Retry-After"]

    with a_frozen_writer(services), ThreadPoolExecutor(8) as many:
        answers = list(many.map(open_upload, range(8)))
        assert {(status, after) for _, status, after in answers} == {(503, "2")}
        assert max(seconds for seconds, _, _ in answers) < SOON
    assert open_upload(0)[1] == 201


def test_a_form_that_must_write_says_so_in_words(someone, a_video, services):
    anna = someone()
    video = a_video(anna.person)
    sign_in(anna.client, "anna")
    with a_frozen_writer(services):
        began = time.monotonic()
        answer = send(anna.client, f"/studio/{video.id}", title="Another title", privacy="public")
        assert time.monotonic() - began < SOON
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
    assert "Busy for a moment" in answer.text
    assert "try again" in answer.text


PAGES = ("/", "/health/ready", "/api/v1/uploads", "/studio")


def test_reading_goes_on_meanwhile(site):
    server, services = site
    with a_frozen_writer(services):
        began = time.monotonic()
        assert [server.ask("GET", page)[0] for page in PAGES] == [200] * len(PAGES)
        assert time.monotonic() - began < SOON


def test_a_server_that_starts_meanwhile_answers_too(site):
    server, services = site
    with a_frozen_writer(services), a_server(services.settings, server.token) as late:
        assert [late.ask("GET", page)[0] for page in PAGES] == [200] * len(PAGES)
