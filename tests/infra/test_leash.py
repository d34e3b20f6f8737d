"""A command on the leash ends when its parent does, however the parent died."""

import os
import subprocess
import sys
import time
from pathlib import Path

from infra import leash
from tests.infra.running import eventually

PARENT = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, sys.argv[1], str(os.getpid()), "sleep", "60"], start_new_session=True)
print(child.pid, flush=True)
time.sleep(60)
"""


def is_running(pid: int) -> bool:
    try:
        return "(sleep) Z" not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def test_a_leashed_command_ends_with_its_killed_parent() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, leash.__file__], stdout=subprocess.PIPE, text=True)
    assert parent.stdout
    child = int(parent.stdout.readline())
    time.sleep(0.5)
    assert is_running(child)
    parent.kill()
    parent.wait()
    eventually(lambda: not is_running(child), 5, "the child has ended")


def test_a_command_whose_parent_is_gone_before_it_starts_is_not_run(tmp_path: Path) -> None:
    witness = tmp_path / "ran"
    nobody = os.getppid()
    subprocess.run([sys.executable, leash.__file__, str(nobody), "touch", str(witness)], check=True)
    assert not witness.exists()
