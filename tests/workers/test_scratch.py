"""Folders for work in progress."""

import os
import signal
from pathlib import Path

from workers.scratch import Scratch, living, remove_abandoned


def test_the_folder_of_a_living_process_is_left_alone(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    folder = scratch.make("one")
    assert remove_abandoned(tmp_path) == []
    assert folder.is_dir()


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        (Scratch(tmp_path).make("one") / "half.mp4").write_bytes(b"half")
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert list(tmp_path.rglob("half.mp4"))
    remove_abandoned(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_closing_leaves_nothing(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    scratch.make("one")
    scratch.close()
    assert list(tmp_path.iterdir()) == []


def test_what_a_process_says_of_itself_is_read_while_it_lives(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    scratch.say(b"first")
    scratch.say(b"at work")
    assert [path.read_bytes() for path in living(tmp_path)] == [b"at work"]
    scratch.close()
    assert living(tmp_path) == []


def test_what_a_killed_process_said_is_not_read_any_more(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        Scratch(tmp_path).say(b"at work")
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert list(tmp_path.glob("*.json"))
    assert living(tmp_path) == []
