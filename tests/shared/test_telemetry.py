"""Every storage operation is counted, by kind and by caller, as the service sees it."""

import json
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest
import structlog

from shared.errors import Invalid, NotFound
from shared.queues import Queues
from shared.services import open_services
from shared.settings import Settings
from shared.telemetry import Meter, Metered, configure_logging
from tests.infra.running import ROOT


def test_a_call_is_counted_by_store_operation_and_caller(queues: Queues) -> None:
    meter = Meter("web")
    metered = Metered(queues, "queue", meter.count)
    metered.create("work")
    for _ in range(3):
        metered.send("work", "x")
    assert meter.counts() == {("queue", "create", "web"): 1, ("queue", "send", "web"): 3}
    assert meter.total() == 4


def test_a_call_that_fails_is_counted_too(queues: Queues) -> None:
    meter = Meter("web")
    with pytest.raises(NotFound):
        Metered(queues, "queue", meter.count).receive("missing")
    assert meter.total() == 1


def test_counting_from_many_threads_loses_nothing() -> None:
    meter = Meter("web")
    threads = [Thread(target=lambda: [meter.count("queue", "send") for _ in range(1000)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert meter.total() == 4000


@pytest.mark.parametrize("partitions", [1, 4])
def test_an_idle_poll_costs_one_operation_for_each_queue_beneath(tmp_path: Path, partitions: int) -> None:
    settings = Settings(storage=f"local:{tmp_path}", queue_partitions=partitions)
    services = open_services(settings, caller="transcode")
    before = services.meter.total()
    services.queues.receive("transcode-high")
    assert services.meter.total() - before == partitions
    services.queues.receive("ingest")
    assert services.meter.total() - before == partitions + 1


def test_a_large_body_costs_its_blob_as_well(tmp_path: Path) -> None:
    services = open_services(Settings(storage=f"local:{tmp_path}"), caller="web")
    services.queues.send("ingest", "small")
    assert ("blob", "put", "web") not in services.meter.counts()
    services.queues.send("ingest", "x" * 100_000)
    assert services.meter.counts()["blob", "put", "web"] >= 1


def test_an_unknown_storage_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="MATINEE_STORAGE"):
        open_services(Settings(storage="tape:/dev/st0", scratch=str(tmp_path)), caller="web")


def test_logs_are_lines_of_json_with_what_was_bound(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info", role="web")
    structlog.get_logger().info("video.published", video="4Rk9mZQ2xLp")
    structlog.get_logger().debug("too fine")
    (line,) = capsys.readouterr().err.splitlines()
    structlog.reset_defaults()
    assert json.loads(line).items() >= {"event": "video.published", "video": "4Rk9mZQ2xLp", "role": "web"}.items()


def test_lines_of_many_processes_in_one_file_stay_whole(tmp_path: Path) -> None:
    code = (
        "import structlog; from shared.telemetry import configure_logging; configure_logging('info')\n"
        "for number in range(300): structlog.get_logger().info('line', number=number, text='x' * 200)"
    )
    with (tmp_path / "log").open("wb") as log:
        writers = [subprocess.Popen([sys.executable, "-c", code], stderr=log, cwd=ROOT) for _ in range(4)]
        assert [writer.wait(60) for writer in writers] == [0] * 4
    lines = (tmp_path / "log").read_text().splitlines()
    assert sorted(json.loads(line)["number"] for line in lines) == sorted(list(range(300)) * 4)
