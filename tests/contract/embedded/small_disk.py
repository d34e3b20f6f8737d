"""A disk that is soon full: 16 MiB of tmpfs where this user may mount one, otherwise a limit on the size of files."""

import errno
import os
import resource
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Protocol

MIB = 1024 * 1024


class SmallDisk(Protocol):
    folder: Path
    has_reserve: bool
    """Whether giving up a file makes room; not so under a limit."""

    def fill(self) -> None: ...

    def free(self) -> None: ...

    def limited(self) -> AbstractContextManager[None]:
        """Inside, no file of 20 MiB can be made, though the disk is not full."""
        ...


@contextmanager
def small_disk(folder: Path) -> Iterator[SmallDisk]:
    if not _mounted(folder):
        limited = _Limited(folder)
        try:
            yield limited
        finally:
            limited.free()
        return
    try:
        yield _Mounted(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _mounted(folder: Path) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(folder)]
    if shutil.which("mount") is None:
        return False
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


class _Mounted:
    has_reserve = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    def fill(self) -> None:
        with self._filler.open("ab", buffering=0) as filler:
            for size in (MIB, 4096, 1):
                _append_until_full(filler.fileno(), bytes(size))

    def free(self) -> None:
        self._filler.unlink(missing_ok=True)

    def limited(self) -> AbstractContextManager[None]:
        return nullcontext()


class _Limited:
    has_reserve = False

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._limit = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(self) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, self._limit[1]))

    def free(self) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, self._limit)

    @contextmanager
    def limited(self) -> Iterator[None]:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10 * MIB, self._limit[1]))
        yield
        self.free()


def _append_until_full(handle: int, data: bytes) -> None:
    try:
        while True:
            os.write(handle, data)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
