"""What children write stays in their files; what a person should know reaches the terminal, once."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from infra.logs import Log, complaint
from tests.infra.running import ROOT


def a_line(level: str = "warning", event: str = "disk nearly full", **more: str) -> str:
    return json.dumps({"event": event, "level": level, "timestamp": "2026-01-01T00:00:00Z", "pool": "index", **more})


@pytest.fixture
def a_log(tmp_path: Path) -> Callable[..., Log]:
    def make(**options) -> Log:
        return Log(tmp_path / "web.log", **options)

    return make


def write(log: Log, *lines: str) -> None:
    with log.opened() as file:
        file.write("".join(line + "\n" for line in lines).encode())


@pytest.mark.parametrize("level", ["warning", "error", "critical"])
def test_a_warning_or_worse_is_a_complaint(level: str) -> None:
    assert complaint(a_line(level, free="3 MB")) == "disk nearly full free=3 MB"


@pytest.mark.parametrize("line", [a_line("info"), "plain words", "[1, 2]", "3", '{"level"', ""])
def test_anything_less_is_not(line: str) -> None:
    assert complaint(line) is None


def test_a_complaint_ends_with_the_last_line_of_its_traceback() -> None:
    assert complaint(a_line("error", "chore failed", exception="Traceback ...\n  File x\nKeyError: 'a'")) == (
        "chore failed KeyError: 'a'"
    )


def test_gunicorns_own_warnings_are_heard() -> None:
    assert complaint("[2026-01-01 00:00:00 +0000] [77] [CRITICAL] WORKER TIMEOUT (pid:78)") == "WORKER TIMEOUT (pid:78)"


def test_only_what_is_new_is_told(a_log: Callable[..., Log]) -> None:
    write(a_log(), a_line(event="from yesterday"))
    log = a_log()
    assert log.complaints() == []
    write(log, a_line(event="from today"))
    assert log.complaints() == ["from today"]
    assert log.complaints() == []


def test_half_a_line_is_left_until_it_is_whole(a_log: Callable[..., Log]) -> None:
    log = a_log()
    with log.opened() as file:
        file.write(a_line(event="slow writer").encode())
        file.flush()
        assert log.complaints() == []
        file.write(b"\n")
    assert log.complaints() == ["slow writer"]


def test_the_same_complaint_is_told_once_in_a_while(a_log: Callable[..., Log]) -> None:
    now = [0.0]
    log = a_log(clock=lambda: now[0])
    write(log, a_line(), a_line(), a_line(event="another"))
    assert log.complaints() == ["disk nearly full", "another"]
    now[0] = 60.0
    write(log, a_line())
    assert log.complaints() == ["disk nearly full"]


def test_a_large_file_is_turned_over_while_its_writer_goes_on(a_log: Callable[..., Log]) -> None:
    log = a_log(largest=1000)
    with log.opened() as file:
        file.write(("x" * 1200 + "\n").encode())
        file.flush()
        log.complaints()
        file.write((a_line(event="after the turn") + "\n").encode())
    assert log.complaints() == ["after the turn"]
    assert log.path.stat().st_size < 1000
    assert log.path.with_suffix(".log.1").stat().st_size == 1201


def test_work_goes_on_where_a_line_cannot_be_written() -> None:
    work = """
import structlog
from shared.telemetry import configure_logging
configure_logging("info")
structlog.get_logger().warning("x" * 100_000)
print("done")
"""
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-c", work]
        done = subprocess.run(command, cwd=ROOT, stderr=full, stdout=subprocess.PIPE, text=True, timeout=30)
    assert done.stdout == "done\n"
