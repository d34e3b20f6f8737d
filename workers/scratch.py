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

    def say(self, about: bytes) -> None:
        """What this process says of itself, for `living`; a reader never sees half of it."""
        told = _report_of(self.folder)
        with suppress(OSError):  # on a full disk what was said before stands
            fresh = told.with_suffix(".new")
            fresh.write_bytes(about)
            fresh.replace(told)

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


def living(root: Path) -> list[Path]:
    """Where each process that lives says something of itself."""
    return [_report_of(lock.with_suffix("")) for lock in root.glob("worker-*.lock") if not _is_free(lock)]


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


def _report_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.json")


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for said in (_report_of(folder), _report_of(folder).with_suffix(".new")):
        said.unlink(missing_ok=True)
    _lock_of(folder).unlink(missing_ok=True)


def _is_free(path: Path) -> bool:
    """Whether nobody holds it; looked at without a chance to take it away from its owner."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return True
    except BlockingIOError:
        return False
    return True


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
