"""infra/scaler: the wanted sizes over HTTP, for KEDA and for Prometheus, served by the real command."""

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError

import pytest

from infra.pools import PoolsFile
from infra.scaling.__main__ import look
from infra.scaling.scaler import Scaler
from infra.scaling.serving import Answers
from shared.errors import Busy
from shared.services import Services, build_services, open_services
from shared.settings import Settings
from tests.infra.running import ROOT, eventually
from tests.workers.clock import HandClock
from tests.workers.faulty import Faulty
from tests.workers.stores import open_stores

POOLS = """
[transcode]
queues = { transcode-low = 1, transcode-high = 2 }
tasks = 1
floor = 0
ceiling = 9
target = 60
service = 20

[index]
queues = { index = 1 }
tasks = 1
processes = 1
"""


class Command:
    """`infra/scaler` of a site in `folder`."""

    def __init__(self, folder: Path) -> None:
        (folder / "pools.toml").write_text(POOLS)
        self.services = open_services(Settings(storage=f"local:{folder / 'data'}", secret_key="any"), caller="test")
        mine = {name: value for name, value in os.environ.items() if not name.startswith("MATINEE_")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "infra.scaling", "--data", str(folder / "data"), "--port", "0"],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**mine, "MATINEE_POOLS": str(folder / "pools.toml"), "MATINEE_SCALE_EVERY": "0.1"},
        )  # fmt: skip
        assert self.process.stdout
        self._url = self.process.stdout.readline().split()[5].removesuffix("/pools,")

    def asked(self, path: str) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(self._url + path, timeout=5) as answer:
                return answer.status, answer.read().decode()
        except HTTPError as error:
            return error.code, error.read().decode()

    def pool(self, name: str) -> dict[str, object]:
        status, body = self.asked(f"/pools/{name}")
        return json.loads(body) if status == 200 else {}


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    running = Command(tmp_path_factory.mktemp("scaler"))
    yield running
    if running.process.poll() is None:
        running.process.kill()
        running.process.wait(10)


def test_a_pool_is_told_with_what_it_should_have_and_why(command: Command) -> None:
    eventually(lambda: command.pool("transcode").get("wanted") == 0, 10, "an idle pool is wanted at its floor")
    for _ in range(11):
        command.services.queues.send("transcode-low", "x")
    eventually(lambda: command.pool("transcode")["wanted"] == 4, 10, "eleven of 20 s within a minute need four")
    told = command.pool("transcode")
    assert told["pool"] == "transcode"
    assert (told["depth"], told["waiting"]) == (11, 11)
    assert 0 <= float(str(told["oldest"])) < 10
    assert float(str(told["read_ago"])) < 5
    assert "11 tickets wait" in str(told["why"])


def test_a_pool_that_never_changes_is_told_without_asking_its_queue(command: Command) -> None:
    eventually(lambda: command.pool("index"), 10, "it is looked at")
    assert command.pool("index")["wanted"] == 1
    assert command.pool("index")["depth"] is None


def test_prometheus_reads_the_same(command: Command) -> None:
    eventually(lambda: command.pool("transcode"), 10, "it is looked at")
    status, text = command.asked("/metrics")
    lines = text.splitlines()
    assert status == 200
    assert "# TYPE matinee_pool_wanted_processes gauge" in lines
    assert 'matinee_pool_wanted_processes{pool="index"} 1' in lines
    assert any(line.startswith('matinee_pool_tickets{pool="transcode"} ') for line in lines)
    assert not any(line.startswith('matinee_pool_tickets{pool="index"}') for line in lines)
    assert any(line.startswith('matinee_scaler_storage_operations_total{store="queue",operation="depth"} ') for line in lines)


def test_what_there_is_not_is_not_found(command: Command) -> None:
    assert [command.asked(path)[0] for path in ("/pools/nobody", "/", "/pools/")] == [404] * 3
    assert command.asked("/health")[0] == 200
    assert [one["pool"] for one in json.loads(command.asked("/pools")[1])] == ["transcode", "index"]


def test_told_to_stop_it_ends_well(command: Command) -> None:
    command.process.terminate()
    assert command.process.wait(10) == 0


def test_while_the_queues_cannot_be_read_it_says_so_and_then_what_it_last_wanted(tmp_path: Path) -> None:
    """KEDA leaves everything as it is while a scaler fails, which is what we would do."""
    settings, clock = Settings(storage=f"local:{tmp_path / 'data'}", secret_key="any", min_free=0), HandClock()
    stores = open_stores(settings, clock)
    queues = Faulty(stores["queues"])
    services = build_services(settings, stores["blobs"], queues, stores["tables"], caller="scaler", clock=clock)  # type: ignore[arg-type]
    asked = looking(tmp_path, services, clock)
    queues.refuse("depth", Busy("the storage is away"))
    assert asked()[0] == 503
    for _ in range(12):
        services.queues.send("transcode-low", "x")
    assert json.loads(asked()[2])["wanted"] == 4
    queues.refuse("depth", Busy("the storage is away"), times=99)
    clock.forward(500)
    told = json.loads(asked()[2])
    assert (told["wanted"], told["depth"], told["read_ago"]) == (4, None, 500.0)


def looking(folder: Path, services: Services, clock: HandClock):
    (folder / "pools.toml").write_text(POOLS)
    pools, sizes = PoolsFile(folder / "pools.toml", print), dict[str, int]()
    scaler = Scaler(services.queues, clock)
    answers = Answers(scaler, services.meter, clock.monotonic)

    def asked():
        look(scaler, pools, sizes)
        return answers("/pools/transcode")

    return asked
