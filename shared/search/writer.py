"""The one writer of the index: held by a lease, a batch is one commit, and what is committed is published."""

import secrets
import shutil
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from shared.blobs import Blobs
from shared.clock import Clock
from shared.errors import Busy, Conflict, MatineeError
from shared.search import SEARCH, Document
from shared.search.files import LocalFiles
from shared.search.publication import GRACE, Publication
from shared.search.turn import Turn

LOCK = "writer.lock"
_BEGUN = "%Y%m%dT%H%M%S"
_LEASE_SECONDS = 15
"""The shortest there is, since it is what a killed writer makes the next one wait."""


class IndexWriter:
    """Writes to a working copy that each turn makes anew, by links to files this machine has or fetches.

    So nothing in a local folder has to be trusted or mended, and two writers on one machine share no copy.
    """

    def __init__(self, blobs: Blobs, clock: Clock, folder: Path) -> None:
        self._blobs = blobs
        self._clock = clock
        self._turns = folder / "turns"
        self._publication = Publication(blobs, clock)
        self._files = LocalFiles(blobs, clock, folder / "files")
        self._ensure()

    def apply(self, put: Sequence[Document], remove: Sequence[str]) -> None:
        """Put documents in place of what their videos had, remove others, and publish: all or nothing, in one turn."""
        with self.turn() as turn:
            turn.apply(put, remove)

    def replace(self, documents: Iterable[Document]) -> int:
        """Publish an index of these alone; until then the one before is searched. Returns how many there are."""
        with self.turn() as turn:
            return turn.replace(documents)

    @contextmanager
    def turn(self) -> Iterator[Turn]:
        """The right to write once. Raises Busy while another has it.

        What goes into the index must be read within the turn: where another published meanwhile (this one having been
        frozen past its lease) the turn publishes nothing and raises Busy, so that old text never comes back.
        """
        with self._alone():
            self._remove_abandoned()
            folder = self._turns / f"{self._clock.now():{_BEGUN}}-{secrets.token_hex(4)}"
            try:
                yield Turn(self._publication, self._files, folder)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            with suppress(MatineeError):  # what is left is found by the next turn
                self._publication.remove_old()

    def _ensure(self) -> None:
        self._blobs.ensure_container(SEARCH)
        try:
            self._blobs.put(SEARCH, LOCK, b"", if_none_match="*")
        except Conflict:  # it is there, or held by the writer
            return

    @contextmanager
    def _alone(self) -> Iterator[None]:
        try:
            lease = self._blobs.acquire_lease(SEARCH, LOCK, seconds=_LEASE_SECONDS)
        except Conflict:
            raise Busy("another is writing the index") from None
        done = threading.Event()
        keeper = threading.Thread(target=self._keep, args=(lease, done), daemon=True)
        keeper.start()
        try:
            yield
        finally:
            done.set()
            keeper.join()
            with suppress(MatineeError):
                self._blobs.release_lease(SEARCH, LOCK, lease)

    def _keep(self, lease: str, done: threading.Event) -> None:
        # Losing the lease is harmless: the pointer moves only from where this writer saw it.
        while not done.wait(_LEASE_SECONDS / 3):
            with suppress(MatineeError):
                self._blobs.renew_lease(SEARCH, LOCK, lease)

    def _remove_abandoned(self) -> None:
        """Working copies of writers that were killed, named by when they began."""
        late = f"{self._clock.now() - GRACE:{_BEGUN}}"
        for folder in self._turns.glob("*"):
            if folder.name < late:
                shutil.rmtree(folder, ignore_errors=True)
