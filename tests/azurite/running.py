"""A real Azurite on free loopback ports, for as long as tests need it."""

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from infra.prepare.node import path_with_node

FOLDER = Path(__file__).parent
PROGRAM = FOLDER / "node_modules" / "azurite" / "dist" / "src" / "azurite.js"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The key of every account here, which is the one in Azurite's documentation: it guards nothing."""
ACCOUNTS = 500
"""More than a run's tests take: each account is an empty storage of its own."""
_PATIENCE = 60.0


@dataclass(frozen=True, kw_only=True)
class Account:
    """Addresses of its three services, without a slash at the end."""

    name: str
    blob: str
    queue: str
    table: str

    @property
    def connection_string(self) -> str:
        return (
            f"DefaultEndpointsProtocol=http;AccountName={self.name};AccountKey={KEY};"
            f"BlobEndpoint={self.blob};QueueEndpoint={self.queue};TableEndpoint={self.table};"
        )


class Azurite:
    """Addresses of its three services by name; accounts nobody has used yet, one after the other."""

    def __init__(self, addresses: Mapping[str, str]) -> None:
        self._addresses = addresses
        self._names = map(_account, range(ACCOUNTS))

    def account(self) -> Account:
        name = next(self._names)
        return Account(name=name, **{service: f"{address}/{name}" for service, address in self._addresses.items()})


@contextmanager
def azurite(folder: Path, certificate: Path | None = None) -> Iterator[Azurite]:
    """Starts one that keeps its data in its memory and writes nothing but its log, into `folder`.

    With a certificate (a PEM file that holds its key too) it speaks https, and takes identities' tokens.
    """
    if not PROGRAM.exists():
        raise RuntimeError("Azurite is not installed; infra/test installs it, and so does npm ci in tests/azurite")
    process = _start(folder, certificate)
    try:
        yield _addresses(process)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)


def _account(number: int) -> str:
    return f"account{number}"


def _start(folder: Path, certificate: Path | None) -> "subprocess.Popen[str]":
    path = path_with_node()
    node = shutil.which("node", path=path)
    assert node
    # The SDK may speak a version of the API that this Azurite does not know by name yet.
    secured = ["--oauth", "basic", "--cert", str(certificate), "--key", str(certificate)] if certificate else []
    accounts = ";".join(f"{_account(number)}:{KEY}" for number in range(ACCOUNTS))
    return subprocess.Popen(
        [
            node, str(PROGRAM), "--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry",
            "--blobPort", "0", "--queuePort", "0", "--tablePort", "0", *secured,
        ],
        cwd=folder, env={**os.environ, "PATH": path, "AZURITE_ACCOUNTS": accounts}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def _addresses(process: "subprocess.Popen[str]") -> Azurite:
    """What it says it listens on; what it says later is read and dropped, so that it never waits for us."""
    assert process.stdout
    said: list[str] = []
    found: dict[str, str] = {}
    stuck = threading.Timer(_PATIENCE, process.kill)
    stuck.start()
    for line in process.stdout:
        said.append(line)
        if listening := re.search(r"Azurite (Blob|Queue|Table) service .*successfully.* (http\S+)", line):
            found[listening[1].lower()] = listening[2].rstrip("/")
        if len(found) == 3:
            break
    stuck.cancel()
    if len(found) < 3:
        raise RuntimeError(f"Azurite did not start: {''.join(said)}")
    threading.Thread(target=process.stdout.read, daemon=True).start()
    return Azurite(found)
