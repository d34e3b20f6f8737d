"""Folders for work in progress: each process locks its own, so that what a killed one left can be told and removed."""

import fcntl
import os
import secrets
import shutil
from contextlib import suppress
from pathlib import Path
from typing import IO


class Scratch:
    """This process's folder under `root`, and a locked file beside it that says the process lives, however it ends."""

    def __init__(self, root: Path) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self.folder, self._lock = _lock_new(root)
        self.folder.mkdir()

    def show_life(self) -> None:
        """For whoever looks after this process: it still moves."""
        with suppress(OSError):
            os.utime(self._lock.name)

    def say(self, text: str) -> None:
        """For whoever looks after this process, in place of what it said before; never worth failing for."""
        said = _said_of(self.folder)
        with suppress(OSError):
            unfinished = said.with_suffix(".unfinished")
            unfinished.write_text(text)
            unfinished.replace(said)

    def make(self, name: str) -> Path:
        folder = self.folder / name
        folder.mkdir()
        return folder

    def remove(self, name: str) -> None:
        shutil.rmtree(self.folder / name, ignore_errors=True)

    def close(self) -> None:
        _remove(self.folder)
        self._lock.close()


def last_sign(root: Path, pid: int) -> float | None:
    """When that process showed life, by a clock that only tells earlier from later; None until it first did."""
    with suppress(OSError):
        return max((lock.stat().st_mtime for lock in root.glob(f"worker-{pid}-*.lock")), default=None)
    return None


def last_said(root: Path, pid: int) -> str | None:
    """What that process said last; None if it said nothing."""
    for path in root.glob(f"worker-{pid}-*.said"):
        with suppress(OSError):
            return path.read_text()
    return None


def remove_abandoned(root: Path) -> list[Path]:
    """Remove the folders whose process is gone; returns them."""
    removed = []
    for lock_file in root.glob("worker-*.lock"):
        lock = _locked(lock_file)
        if lock is not None:
            folder = lock_file.with_suffix("")
            _remove(folder)
            lock.close()
            removed.append(folder)
    return removed


def _lock_new(root: Path) -> tuple[Path, IO[bytes]]:
    while True:
        folder = root / f"worker-{os.getpid()}-{secrets.token_hex(4)}"
        lock = _locked(_lock_of(folder))
        if lock is not None:
            return folder, lock


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")


def _said_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.said")


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    _said_of(folder).unlink(missing_ok=True)
    _lock_of(folder).unlink(missing_ok=True)


def _locked(path: Path) -> IO[bytes] | None:
    """The file, locked by us; None if another process holds it, or removed it while we were taking it."""
    file = path.open("ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    if not path.exists():
        file.close()
        return None
    return file
