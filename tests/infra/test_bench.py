"""What infra/bench prints, for people and for programs."""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from tests.bench.figure import Figure, as_json, as_table
from tests.bench.peers import throughput
from tests.bench.peers.kinds import OURS
from tests.infra.running import ROOT

MISSED = Figure(
    figure="upload", value=12.5, unit="MB/s", against="disk: 100 MB/s", goal="at least 0.4 of it", met=False
)


def test_a_figure_is_one_json_object_with_six_fields() -> None:
    assert json.loads(as_json(MISSED)) == {
        "figure": "upload",
        "value": 12.5,
        "unit": "MB/s",
        "against": "disk: 100 MB/s",
        "goal": "at least 0.4 of it",
        "met": False,
    }


def test_the_table_says_what_was_missed() -> None:
    [heading, row] = as_table([MISSED]).splitlines()
    assert heading.split()[:3] == ["figure", "value", "against"]
    assert row.endswith("at least 0.4 of it  MISSED")


def test_an_unknown_bench_is_refused_with_those_there_are() -> None:
    refused = subprocess.run(
        [sys.executable, "-m", "tests.bench", "speed"], cwd=ROOT, capture_output=True, text=True, timeout=30
    )
    assert refused.returncode == 2
    assert "bill, direct, queue, queue_peers, scaling, stores, transcode, upload" in refused.stderr


def test_our_own_workers_can_be_measured_without_the_queues_of_others(tmp_path: Path) -> None:
    rates: throughput.Rates = defaultdict(lambda: defaultdict(list))
    throughput.run(tmp_path / "ours", OURS, 2, 20, rates)
    measured = {what: rates_of[OURS.name] for what, rates_of in rates.items()}
    assert list(measured) == ["sent by one process", "backlog, 2 processes", "sent meanwhile, 2 processes"]
    assert all(len(each) == 1 and each[0] > 0 for each in measured.values())
