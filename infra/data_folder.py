"""The folder that holds everything of a site: checked, claimed by one supervisor, and the keeper of its secret key."""

import fcntl
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from shared.errors import Busy, Invalid
from shared.settings import PREFIX, Settings

ROOT = Path(__file__).resolve().parents[1]


class DataFolder:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.logs = path / "logs"
        self.first_password = path / "first-password"
        self._claim: int | None = None

    def make(self) -> None:
        """Raises Invalid, saying why, if it cannot be made or written to."""
        try:
            self.logs.mkdir(parents=True, exist_ok=True)
            probe = self.path / f".writable-{os.getpid()}"
            probe.write_bytes(b"")
            probe.unlink()
        except OSError as error:
            raise Invalid(
                f"The data folder {self.path} cannot be written to ({error.strerror}). "
                "Give this account the right to, or name another folder with --data DIR."
            ) from None

    def claim(self) -> None:
        """Hold it until this process ends, however it ends. Raises Busy if another supervisor does."""
        claim = os.open(self.path / "supervisor.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(claim, 20, 0).decode() or "unknown"
            os.close(claim)
            raise Busy(
                f"A Matinee already runs on {self.path} (process {holder}). Stop it first, or use another --data DIR."
            ) from None
        os.ftruncate(claim, 0)
        os.pwrite(claim, str(os.getpid()).encode(), 0)
        self._claim = claim

    def is_still_ours(self) -> bool:
        """False once the folder we claimed was moved or removed: what is written by its path goes elsewhere."""
        if self._claim is None:
            return False
        try:
            return os.path.samestat(os.fstat(self._claim), (self.path / "supervisor.lock").stat())
        except OSError:
            return False

    def secret_key(self) -> str:
        """Made once; whoever asks first makes it, and everyone after reads the same."""
        path = self.path / "secret-key"
        write_once(path, secrets.token_hex(32))
        return path.read_text().strip()

    def environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        """The given environment, saying where this site's storage is and what signs its sessions."""
        mine = {f"{PREFIX}STORAGE": f"local:{self.path}"}
        if is_elsewhere(environment):
            scratch = environment.get(f"{PREFIX}SCRATCH") or str(self.path / "scratch")
            mine = {f"{PREFIX}SCRATCH": scratch}
        if not environment.get(f"{PREFIX}SECRET_KEY"):
            mine[f"{PREFIX}SECRET_KEY"] = self.secret_key()
        return {**environment, **mine}


def choose(given: str | None, environment: Mapping[str, str]) -> DataFolder:
    """What --data says, else the folder MATINEE_STORAGE names, else data/ in this checkout.

    Where the storage is elsewhere, the folder keeps logs, the secret key and work in progress.
    """
    storage = environment.get(f"{PREFIX}STORAGE", "")
    if given:
        return DataFolder(Path(given).expanduser().resolve())
    if not storage or is_elsewhere(environment):
        return DataFolder(ROOT / "data")
    return DataFolder(Settings(storage=storage).local_path())


def is_elsewhere(environment: Mapping[str, str]) -> bool:
    """Whether the site's storage is not on this machine."""
    storage = environment.get(f"{PREFIX}STORAGE", "")
    return bool(storage) and not Settings(storage=storage).is_local


def write_once(path: Path, text: str) -> bool:
    """A file only its owner can read, appearing whole; False if it was there already."""
    unfinished = path.with_name(f".{path.name}-{os.getpid()}-{secrets.token_hex(4)}")
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(unfinished, path)
    except FileExistsError:
        return False
    finally:
        unfinished.unlink()
    return True
