"""This machine's copy of the index: it follows what is published, and switches to a new version at once."""

import os
import secrets
import shutil
import threading
from contextlib import suppress
from pathlib import Path

import structlog

from shared.blobs import Blobs
from shared.clock import Clock
from shared.errors import Conflict, MatineeError
from shared.search.damage import DAMAGE
from shared.search.files import LocalFiles
from shared.search.opened import OpenVersion
from shared.search.publication import GRACE, Publication, Version

_LOOK_EVERY = 1.0


class Replica:
    """Looks for a newer version when it is asked for one, a second after the last look at the earliest.

    So it has no thread that a fork would lose, and a site nobody searches asks nothing of the store. Whatever goes
    wrong, the version at hand stays in use.
    """

    def __init__(self, blobs: Blobs, clock: Clock, folder: Path) -> None:
        self._publication = Publication(blobs, clock)
        self._files = LocalFiles(blobs, clock, folder / "files")
        self._folder = folder / "versions"
        self._clock = clock
        self._turn = threading.Lock()
        self._process = os.getpid()
        self._looked: float | None = None
        self._etag: str | None = None
        self._opened: OpenVersion | None = None

    def current(self) -> OpenVersion | None:
        """None while nothing was published that can be read."""
        self._notice_fork()
        if self._is_time_to_look():
            self._try_to_refresh()
        return self._opened

    def refresh(self) -> None:
        """Look now. Raises the store's named failures, Damaged among them."""
        self._notice_fork()
        with self._turn:
            self._look()

    def discard(self, opened: OpenVersion) -> None:
        """It cannot be read: get it afresh, from files that are checked again."""
        with self._turn:
            if self._opened is opened:
                self._forget()
                opened.retire()

    def _try_to_refresh(self) -> None:
        """One thread looks; the others use what there is meanwhile, unless there is nothing."""
        if not self._turn.acquire(blocking=self._opened is None):
            return
        try:
            if self._is_time_to_look():
                self._look()
        except (MatineeError, *DAMAGE) as error:
            structlog.get_logger().warning("the search index was not refreshed", reason=str(error))
        finally:
            self._turn.release()

    def _is_time_to_look(self) -> bool:
        return self._looked is None or self._clock.monotonic() - self._looked >= _LOOK_EVERY

    def _look(self) -> None:
        self._looked = self._clock.monotonic()
        etag = self._publication.etag()
        if etag is None or (etag == self._etag and self._opened is not None and self._opened.touch(self._clock.now())):
            return
        try:
            version = self._publication.read(etag)
        except Conflict:  # it moved on just now; there is a next look
            self._looked = None
            return
        self._switch(self._open(version), etag)
        self._files.remove_others(version)
        self._remove_abandoned()

    def _open(self, version: Version) -> OpenVersion:
        folder = self._folder / f"{version.number:012d}-{secrets.token_hex(4)}"
        try:
            self._files.lend(version, folder)
            opened = OpenVersion(folder)
            opened.touch(self._clock.now())
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return opened

    def _switch(self, opened: OpenVersion, etag: str) -> None:
        before, self._opened, self._etag = self._opened, opened, etag
        if before is not None:
            before.retire()

    def _notice_fork(self) -> None:
        """A child leaves its parent's copy alone, and takes one of its own."""
        if self._process != os.getpid():
            self._process, self._turn = os.getpid(), threading.Lock()
            self._forget()

    def _forget(self) -> None:
        self._files.distrust()
        self._opened = self._etag = self._looked = None

    def _remove_abandoned(self) -> None:
        """Folders of processes that are gone. A process that merely rests makes its own anew at its next look."""
        late = (self._clock.now() - GRACE).timestamp()
        for folder in self._folder.iterdir():
            with suppress(FileNotFoundError):
                if folder.stat().st_mtime < late:
                    shutil.rmtree(folder, ignore_errors=True)
