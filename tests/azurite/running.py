"""A real Azurite on free loopback ports, for as long as tests need it."""

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from infra.prepare.node import path_with_node

FOLDER = Path(__file__).parent
PROGRAM = FOLDER / "node_modules" / "azurite" / "dist" / "src" / "azurite.js"
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The account and key every Azurite has; they are in its documentation and guard nothing."""
_PATIENCE = 60.0


@dataclass(frozen=True, kw_only=True)
class Azurite:
    """Addresses of its three services, without a slash at the end."""

    blob: str
    queue: str
    table: str

    @property
    def connection_string(self) -> str:
        return (
            f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};"
            f"BlobEndpoint={self.blob};QueueEndpoint={self.queue};TableEndpoint={self.table};"
        )


@contextmanager
def azurite(folder: Path, *options: str) -> Iterator[Azurite]:
    """Starts one that keeps its data below `folder`; with `--inMemoryPersistence` among the options, nowhere."""
    if not PROGRAM.exists():
        raise RuntimeError("Azurite is not installed; infra/test installs it, and so does npm ci in tests/azurite")
    process = _start(folder, options)
    try:
        yield _addresses(process)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)


def _start(folder: Path, options: tuple[str, ...]) -> "subprocess.Popen[str]":
    path = path_with_node()
    node = shutil.which("node", path=path)
    assert node
    # The SDK may speak a version of the API that this Azurite does not know by name yet.
    where = [] if "--inMemoryPersistence" in options else ["--location", str(folder)]
    return subprocess.Popen(
        [
            node, str(PROGRAM), *where, "--skipApiVersionCheck", "--disableTelemetry",
            "--blobPort", "0", "--queuePort", "0", "--tablePort", "0", *options,
        ],
        cwd=folder, env={**os.environ, "PATH": path}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
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
            found[listening[1].lower()] = f"{listening[2].rstrip('/')}/{ACCOUNT}"
        if len(found) == 3:
            break
    stuck.cancel()
    if len(found) < 3:
        raise RuntimeError(f"Azurite did not start: {''.join(said)}")
    threading.Thread(target=process.stdout.read, daemon=True).start()
    return Azurite(**found)
