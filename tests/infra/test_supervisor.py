"""The supervisor, run for real: it starts all there is, keeps it running, and leaves nothing behind."""

import os
import signal
import socket
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from infra import web_server
from infra.pools import read_pools
from shared.clock import SystemClock
from shared.local.tables import LocalTables
from shared.people import People, password_fits
from tests.infra.running import UP, Site, eventually

SiteMaker = Callable[..., Site]


def test_a_site_says_where_it_is_and_runs_every_pool(running: Site) -> None:
    assert running.answers()
    for pool in read_pools():
        assert len(running.children(f"workers.pool {pool.name} ")) == pool.processes


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_asked_to_stop_it_exits_0_and_nothing_is_left(a_site: SiteMaker, number: signal.Signals) -> None:
    site = a_site().start("--no-sample").ready()
    assert len(site.processes()) > 5
    assert site.stop(number) == 0
    assert site.processes() == {}


def test_asked_to_stop_before_it_is_ready_it_exits_0_and_nothing_is_left(a_site: SiteMaker) -> None:
    site = a_site().start("--no-sample")
    eventually(lambda: site.children("workers.pool"), 20, "a pool runs")
    assert site.stop() == 0
    assert site.processes() == {}


def test_asked_twice_it_does_not_wait_for_a_process_that_hangs(a_site: SiteMaker) -> None:
    site = a_site(MATINEE_GRACE="60").start("--no-sample").ready()
    [frozen] = site.children("workers.pool index ")
    os.kill(frozen, signal.SIGSTOP)
    site.interrupt()
    eventually(lambda: any("Stopping" in line for line in site.said), 10, "it says that it stops")
    started = time.monotonic()
    assert site.stop() == 0
    assert time.monotonic() - started < 15
    assert site.processes() == {}


def test_killed_it_leaves_nothing_running(a_site: SiteMaker) -> None:
    site = a_site().start("--no-sample").ready()
    site.stop(signal.SIGKILL)
    eventually(lambda: not site.processes(), 20, "everything has ended")


def test_a_killed_pool_is_started_again(a_site: SiteMaker) -> None:
    site = a_site().start("--no-sample").ready()
    [killed] = site.children("workers.pool housekeeping ")
    os.kill(killed, signal.SIGKILL)
    eventually(lambda: site.children("workers.pool housekeeping ") not in ([], [killed]), 10, "another has its place")
    assert any("housekeeping was ended by SIGKILL; starting it again" in line for line in site.said)


def test_it_goes_on_when_nobody_listens_to_it_any_more(a_site: SiteMaker) -> None:
    site = a_site().start("--no-sample").ready()
    site.hang_up()
    [killed] = site.children("workers.pool index ")
    os.kill(killed, signal.SIGKILL)
    eventually(lambda: site.children("workers.pool index ") not in ([], [killed]), 10, "another has its place")
    assert site.stop() == 0
    assert site.processes() == {}


def test_a_killed_web_server_is_started_again_at_the_same_address(a_site: SiteMaker) -> None:
    site = a_site().start("--no-sample").ready()
    before = site.children("gunicorn")
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    eventually(lambda: set(site.children("gunicorn")) - set(before), 10, "another has its place")
    eventually(site.answers, 20, "it answers again")


def test_a_second_start_finds_everything_as_it_was(a_site: SiteMaker) -> None:
    site = a_site().start("--no-sample").ready()
    kept = {name: (site.data / name).read_text() for name in ("secret-key", "first-password")}
    assert site.stop() == 0
    started = time.monotonic()
    site.said.clear()
    site.start("--no-sample").ready()
    assert time.monotonic() - started < 20
    assert {name: (site.data / name).read_text() for name in kept} == kept


def test_secrets_are_for_their_owner_alone(running: Site) -> None:
    for name in ("secret-key", "first-password"):
        assert stat.S_IMODE((running.data / name).stat().st_mode) == 0o600


def test_the_password_it_prints_is_the_admins(running: Site) -> None:
    password = (running.data / "first-password").read_text().strip()
    assert any(password in line and "/login as admin" in line for line in running.said)
    admin = People(LocalTables(running.data / "tables.db", SystemClock()), SystemClock()).by_name("admin")
    assert admin.may("admin")
    assert password_fits(password, admin.password)


def test_a_data_folder_moved_away_stops_it_and_none_is_made_in_its_place(a_site: SiteMaker) -> None:
    site = a_site().start("--no-sample").ready()
    moved = site.data.with_name("moved")
    servers = web_server.workers() + sum(pool.processes for pool in read_pools())
    eventually(lambda: sum(map(has_storage_open, site.processes())) > servers, 30, "all of them are at work")
    site.data.rename(moved)
    assert site.exit_code() == 1
    assert any("was moved or removed" in line for line in site.said)
    assert site.processes() == {}
    assert not site.data.exists()


def test_a_worker_that_is_frozen_is_ended_and_another_takes_its_place(a_site: SiteMaker) -> None:
    site = a_site(MATINEE_SILENCE="4").start("--no-sample").ready()
    [frozen] = site.children("workers.pool ingest ")
    log = site.data / "logs" / "ingest.log"
    eventually(lambda: '"listening"' in log.read_text(), 30, "it is at work")
    time.sleep(6)
    assert site.children("workers.pool ingest ") == [frozen], "one that moves is left alone"
    os.kill(frozen, signal.SIGSTOP)
    eventually(lambda: site.children("workers.pool ingest ") not in ([frozen], []), 20, "another runs in its place")
    assert any("ingest showed no sign of life" in line for line in site.said)


def has_storage_open(pid: int) -> bool:
    try:
        return any(link.readlink().name == "tables.db" for link in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:  # it, or one of its files, was closed while we looked
        return False


def test_a_port_in_use_is_said_plainly_and_nothing_starts(a_site: SiteMaker) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        site = a_site().start(port=other.getsockname()[1])
        assert site.exit_code() == 1
    assert [line for line in site.said if "is in use by another program" in line and "--port" in line]
    assert site.processes() == {}


def test_a_second_site_on_the_same_data_is_refused(running: Site, a_site: SiteMaker) -> None:
    second = a_site(str(running.data)).start()
    assert second.exit_code() == 1
    assert second.said == [
        f"A Matinee already runs on {running.data} (process {running.process.pid}). "
        "Stop it first, or use another --data DIR."
    ]
    assert running.answers()


def test_a_data_folder_that_cannot_be_written_is_said_plainly(a_site: SiteMaker, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    site = a_site("file/data").start()
    assert site.exit_code() == 1
    assert len(site.said) == 1
    assert "cannot be written to" in site.said[0]


def test_a_bad_setting_is_refused_by_its_name(a_site: SiteMaker) -> None:
    site = a_site(MATINEE_LEASE="soon").start()
    assert site.exit_code() == 1
    assert site.said == ["MATINEE_LEASE must be a number, not 'soon'"]


def test_an_empty_site_gets_the_sample_clip_once(a_site: SiteMaker, clip: Path) -> None:
    site = a_site().start().ready()
    assert clip.is_file()
    eventually(lambda: any("A sample clip is being prepared" in line for line in site.said), 20, "the clip is uploaded")
    assert site.stop() == 0
    site.start().ready()
    listed = site.manage("video", "list").stdout
    assert listed.count("Big Buck Bunny") == 1


def test_infra_up_works_from_any_folder(tmp_path: Path) -> None:
    site = Site(Path("my data"))
    try:
        site.start("--no-sample", command=UP, folder=tmp_path).ready()
        assert (tmp_path / "my data" / "secret-key").is_file()
        assert site.stop() == 0
        assert site.processes() == {}
    finally:
        site.end()


def test_a_site_without_the_sample_stays_empty(running: Site) -> None:
    assert running.manage("video", "list").stdout == "There are no videos.\n"
