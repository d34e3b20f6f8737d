"""`python -m infra.prepare STEP...`: bring this checkout to where the named steps are done."""

import fcntl
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from infra.prepare import azurite, debian, environment, frontend, peers, sample
from infra.prepare.places import ROOT, CannotPrepare, say

STEPS: dict[str, tuple[Callable[[], bool], Callable[[], None]]] = {
    "site": (partial(environment.is_installed, "site"), partial(environment.install, "site")),
    "dev": (partial(environment.is_installed, "dev"), partial(environment.install, "dev")),
    "frontend": (frontend.is_built, frontend.build),
    "sample": (sample.is_fetched, sample.fetch),
    "azurite": (azurite.is_installed, azurite.install),
    "chromium": (partial(debian.is_found, "chromium"), partial(debian.install, "chromium", "chromium")),
    "redis": (partial(debian.is_found, "redis-server"), partial(debian.install, "redis-server", "redis-server")),
    "peers": (peers.is_installed, peers.install),
}
OPTIONAL = {"sample"}


def main(names: list[str]) -> int:
    if all(STEPS[name][0]() for name in names):
        return 0
    try:
        with _alone():
            for name in names:
                _do(name)
    except CannotPrepare as problem:
        say(str(problem))
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _do(name: str) -> None:
    is_done, do = STEPS[name]
    if is_done():
        return
    try:
        do()
    except CannotPrepare as problem:
        if name not in OPTIONAL:
            raise
        say(f"{problem}\nGoing on without it.")


@contextmanager
def _alone() -> Iterator[None]:
    """One set-up of a checkout at a time; a second waits, and then finds everything done."""
    folder = os.open(ROOT / "infra", os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
