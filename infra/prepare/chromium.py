"""The browser the end-to-end tests drive: Debian's Chromium, installed where this account may."""

import os
import shutil
import subprocess

from infra.prepare.places import CannotPrepare, say, tail


def is_found() -> bool:
    return shutil.which("chromium") is not None


def install() -> None:
    """Raises CannotPrepare."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise CannotPrepare(
            "The tests drive a real Chromium, and no program called chromium is on PATH. "
            "Install it (Debian: sudo apt-get install chromium), then start again."
        )
    say("Installing Chromium with apt-get (once) ...")
    _apt("update")
    _apt("install", "--yes", "--no-install-recommends", "chromium")


def _apt(*arguments: str) -> None:
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(["apt-get", *arguments], env=quiet, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotPrepare(f"'apt-get {' '.join(arguments)}' failed:\n{tail(done.stdout + done.stderr)}")
