"""The queues a bench runs beside ours, in an environment of their own: they pin packages that ours needs newer."""

import subprocess
import sys

from infra.prepare import environment
from infra.prepare.places import ROOT, SHARE, CannotPrepare, fingerprint, is_stamped, say, tail

LOCK = ROOT / "infra" / "requirements-peers.lock"
FOLDER = SHARE / "peers"
PYTHON = FOLDER / "bin" / "python"
STAMP = SHARE / "peers.stamp"


def is_installed() -> bool:
    return PYTHON.exists() and is_stamped(STAMP, _wanted())


def install() -> None:
    """Raises CannotPrepare."""
    say(f"Installing the packages of {LOCK.relative_to(ROOT)} in {FOLDER.relative_to(ROOT)} (once; half a minute) ...")
    # Without pip, which Debian's Python cannot always put there; that of .venv does its work.
    command = [sys.executable, "-m", "venv", "--without-pip", "--clear", str(FOLDER)]
    _check(subprocess.run(command, capture_output=True, text=True, check=False))
    _check(environment.pip("--python", str(PYTHON), "install", "--require-hashes", "--requirement", str(LOCK)))
    STAMP.write_text(_wanted())


def _check(done: "subprocess.CompletedProcess[str]") -> None:
    if done.returncode != 0:
        raise CannotPrepare(
            "The other queues' libraries could not be installed. Check the network, and that pip's settings name a "
            f"package index it can reach; then start again. It said:\n{tail(done.stdout + done.stderr)}"
        )


def _wanted() -> str:
    return fingerprint([LOCK], str(FOLDER))
