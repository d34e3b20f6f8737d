"""Metrics of a real site: right over all its processes, dead ones too, and every one of them told in the README."""

import os
import signal
import socket
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from shared.errors import Invalid
from shared.metrics import METRICS, Metrics, parse_address
from shared.tickets import QUEUES
from tests.bench.site import Client
from tests.infra.running import ROOT, Site, eventually
from tests.workers.clips import a_clip
from workers.figures import counting
from workers.news import Settled

Scrape = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture
def address() -> str:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return f"127.0.0.1:{free.getsockname()[1]}"


@pytest.fixture
def site(tmp_path: Path, address: str) -> Iterator[Site]:
    site = Site(tmp_path / "data", MATINEE_METRICS=address)
    try:
        yield site.start("--no-sample").ready()
    finally:
        site.end()


def scrape(address: str) -> Scrape:
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if not sample.name.endswith("_created")
    }


def total(found: Scrape, name: str, **labels: str) -> float:
    """Over all whose labels are these and any others."""
    return sum(
        value for (named, given), value in found.items() if named == name and labels.items() <= dict(given).items()
    )


@pytest.mark.timeout(180)
def test_what_all_processes_did_adds_up_and_stays_when_one_dies(site: Site, address: str, tmp_path: Path) -> None:
    clip = tmp_path / "clip.mp4"
    clip.write_bytes(a_clip(seconds=1, width=426, height=240))
    site.manage("user", "create", "anna", "--role", "creator", "--password-stdin", stdin="correct horse battery")
    client = Client(site.url or "", site.manage("token", "create", "anna").stdout.strip())
    video = client.upload(clip)
    eventually(lambda: client.video(video)["state"] == "published", 90, "it is published")
    eventually(lambda: total(scrape(address), "matinee_tickets_settled_total", kind="index") > 0, 20, "and indexed")
    found = scrape(address)
    assert total(found, "matinee_tickets_settled_total", kind="ingest", outcome="done", counted="yes") == 1
    assert total(found, "matinee_try_seconds_count", kind="encode") >= 2
    assert total(found, "matinee_ffmpeg_cpu_seconds_total", kind="encode") > 0
    assert 0 < total(found, "matinee_ffmpeg_seconds_total") < 90
    assert total(found, "matinee_wait_seconds_count", queue="ingest") >= 2
    assert total(found, "matinee_upload_bytes_total") == clip.stat().st_size
    assert total(found, "matinee_request_seconds_count", route="/api/v1/uploads", method="POST", status="201") == 1
    for caller in ("web", "pool:ingest", "pool:transcode", "pool:index"):
        assert total(found, "matinee_storage_operations_total", caller=caller) > 0
    assert {dict(labels)["queue"] for name, labels in found if name == "matinee_queue_tickets"} == set(QUEUES)
    assert total(found, "matinee_workers", pool="ingest") == 1
    [victim] = site.children("workers.pool transcode ")
    os.kill(victim, signal.SIGKILL)
    eventually(lambda: victim not in site.children("workers.pool transcode "), 10, "it is gone")
    after = scrape(address)
    counters = {key: value for key, value in found.items() if key[0].endswith(("_total", "_count", "_sum"))}
    assert {key: value for key, value in counters.items() if after.get(key, 0) < value} == {}
    assert site.stop() == 0


def test_an_address_that_is_taken_is_said_at_start(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        site = Site(tmp_path / "data", MATINEE_METRICS=address).start("--no-sample")
        try:
            assert site.exit_code() == 1
        finally:
            site.end()
    assert any(f"metrics cannot be served at {address}" in line for line in site.said)


@pytest.mark.parametrize("address", ["9100", ":9100", "localhost:", "localhost:http", "localhost:0", "localhost:70000"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(Invalid, match="HOST:PORT"):
        parse_address(address)


def test_an_address_may_be_of_either_family() -> None:
    assert parse_address("0.0.0.0:9100") == ("0.0.0.0", 9100)
    assert parse_address("[::1]:9100") == ("::1", 9100)


def test_the_readme_tells_of_every_metric() -> None:
    readme = (ROOT / "README.md").read_text()
    rows = [
        f"| `{metric.name}` | {metric.kind} | {', '.join(metric.labels)} | {metric.help} |" for metric in METRICS
    ]
    assert [row for row in rows if row not in readme] == []


def test_without_a_folder_a_process_counts_for_itself() -> None:
    metrics = Metrics()
    settled = Settled(queue="ingest", kind="ingest", outcome="retried", counted=False, seconds=2.0)
    counting(metrics)(settled)
    labels = {"queue": "ingest", "kind": "ingest", "outcome": "retried", "counted": "no"}
    assert metrics.registry.get_sample_value("matinee_tickets_settled_total", labels) == 1
    assert metrics.registry.get_sample_value("matinee_try_seconds_sum", {"kind": "ingest"}) == 2.0
