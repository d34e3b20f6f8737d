"""No run goes on for ever: one that gets nowhere is ended, however it looks, and one that works is left alone."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest

from shared.errors import Full, Permanent
from shared.settings import Settings
from workers.media import ffmpeg as runner
from workers.media import guard
from workers.media.endings import Broken
from workers.media.ffmpeg import Ran, run
from workers.media.guard import Bounds

POLLS = "while True: time.sleep(0.02)"
SAYS_THE_SAME = "while True: print('out_time_us=1000000', flush=True); time.sleep(0.02)"
WORKS = "end = time.monotonic() + 1.5\nwhile time.monotonic() < end: pass"
MAKES = "for second in range(10): print(f'out_time_us={second}000000', flush=True); time.sleep(0.15)"
WORKS_FOR_EVER = "while True: pass"
FULL = "sys.stderr.write('No space left on device\\n' + 'noise\\n' * 100_000)"


@pytest.fixture
def go(work, tmp_path) -> Callable[..., Ran]:
    """Run a script in ffmpeg's place."""

    def go(script: str, **options: bool) -> Ran:
        program = tmp_path / "program"
        program.write_text(f"#!{sys.executable} -ES\nimport sys, time\n{script}\n")
        program.chmod(0o755)
        return run([], replace(work, settings=Settings(ffmpeg=str(program))), **options)

    return go


@pytest.mark.parametrize("script", [POLLS, SAYS_THE_SAME])
def test_waiting_is_not_working_though_it_costs_a_little(go, monkeypatch, script):
    monkeypatch.setattr(guard, "_STALLED", 1.0)
    monkeypatch.setattr(guard, "_WORKS", 0.5)
    with pytest.raises(Broken, match="nothing came of it"):
        go(script)


@pytest.mark.parametrize("script", [WORKS, MAKES])
def test_what_works_or_makes_something_is_left_alone(go, monkeypatch, script):
    monkeypatch.setattr(guard, "_STALLED", 0.8)
    monkeypatch.setattr(guard, "_WORKS", 0.1)
    go(script)


def test_what_works_and_never_makes_anything_is_ended_too(go, monkeypatch):
    monkeypatch.setattr(guard, "_SILENT", 0.5)
    with pytest.raises(Broken, match="nothing came of it"):
        go(WORKS_FOR_EVER)


def test_work_is_measured_by_what_came_of_it_not_by_what_was_promised(go, monkeypatch):
    monkeypatch.setattr(runner, "_WORK", Bounds(cpu=0.3, cpu_each=1000))
    with pytest.raises(Permanent, match="far more work"):
        go(WORKS_FOR_EVER)


def test_a_look_is_over_in_a_moment(go, monkeypatch):
    monkeypatch.setattr(runner, "_LOOK", Bounds(cpu=60, clock=0.5))
    with pytest.raises(Broken, match="takes a moment"):
        go(POLLS, look=True)


def test_a_full_disk_is_heard_in_any_amount_of_noise_and_before_a_good_end(go):
    with pytest.raises(Full):
        go(FULL)


def test_a_stricter_machine_is_no_reason_to_refuse_a_file(served, a_clip):
    """Whose limit on memory is lower already, and cannot be raised."""
    script = (
        "import resource, threading\nresource.setrlimit(resource.RLIMIT_AS, (4 * 1024**3,) * 2)\n"
        "from shared.settings import Settings\nfrom workers.media.ffmpeg import Work\n"
        "from workers.media.probe import probe\n"
        f"print(probe({served(a_clip('plain'))!r}, Work(settings=Settings(), stopped=threading.Event())).duration)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "2.0", done.stderr
