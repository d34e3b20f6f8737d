"""Where set-up puts things, how it remembers what is done, and how it says what it cannot do."""

import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
SHARE = VENV / "share" / "matinee"
SAMPLE = SHARE / "bigbuckbunny.mp4"


class CannotPrepare(Exception):
    """The message says what is missing and what to do about it."""


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def fingerprint(files: Iterable[Path], *more: str) -> str:
    """Changes whenever a file is added, removed, renamed or edited."""
    digest = hashlib.sha256("\0".join(more).encode())
    for path in sorted(files):
        digest.update(f"\0{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def is_stamped(stamp: Path, value: str) -> bool:
    return stamp.is_file() and stamp.read_text() == value


def tail(output: str, lines: int = 8) -> str:
    return "\n".join("    " + line for line in output.strip().splitlines()[-lines:])
