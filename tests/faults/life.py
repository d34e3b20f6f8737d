"""A video's life in acts: the browser's half, then one ticket an act; each act can be begun again from a copy."""

import base64
import hashlib
import shutil
from pathlib import Path
from typing import Any, Protocol

from shared import uploads
from shared.people import Person
from shared.services import Services, build_services
from shared.settings import Settings
from shared.tickets import QUEUES
from shared.videos import Video
from tests.faults.clock import FileClock
from tests.faults.deadly import Deadly, Trap
from tests.workers.clips import a_clip
from tests.workers.stores import open_stores
from workers.handlers.table import find_handlers
from workers.lease import LeaseKeeper
from workers.listener import Listener, Look
from workers.scratch import Scratch
from workers.sweep import sweep
from workers.turns import Turns

BLOCKS = 3
TITLE = "Marmalade"
_ROUNDS = 8


def the_clip() -> bytes:
    """Short, and just large enough for a ladder of two rungs."""
    return a_clip(seconds=0.5, width=426, height=240)


class World:
    """One data folder with its clock. `open` gives services over it, through a trap if there is one."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self.clock = FileClock(root / "clock")
        self.settings = Settings(
            storage=f"local:{root / 'data'}", min_free=0, secret_key="for tests only", ffmpeg_threads=1,
            block_size=len(the_clip()) // BLOCKS + 1,
        )

    def copy(self, root: Path) -> "World":
        """As a machine finds it after a crash: without what only a living process holds."""
        shutil.copytree(self.root, root, ignore=shutil.ignore_patterns("*-shm", "*.lock"))
        return World(root)

    def open(self, trap: Trap | None = None) -> Services:
        stores = open_stores(self.settings, self.clock)
        if trap is not None:
            stores = {name: Deadly(store, name, trap) for name, store in stores.items()}
        return build_services(
            self.settings, stores["blobs"], stores["queues"], stores["tables"], caller="test", clock=self.clock
        )


class Lived(Protocol):
    """A world in which a life can be lived on."""

    @property
    def clock(self) -> Any: ...

    def open(self) -> Services: ...


def browse(services: Services) -> Video:
    """What a browser does, and does again when it was cut short: open, look what is there, send the rest, commit."""
    clip = the_clip()
    owner = Person(id="anna", name="anna", created=services.clock.now(), session_key="1")
    request = uploads.Request(filename="marmalade.mp4", size=len(clip), title=TITLE)
    video = uploads.open_upload(services, owner, request, key="the same file")
    if video.state != "uploading":
        return video
    blocks = {_block_id(number): clip[number * video.block_size :][: video.block_size] for number in range(BLOCKS)}
    here = {block.id for block in uploads.staged(services, video)}
    for block_id, data in blocks.items():
        if block_id not in here:
            uploads.stage(services, video, block_id, data, hashlib.md5(data).digest())
    return uploads.commit(services, video, list(blocks))


def work_one(services: Services) -> bool:
    """What one ticket (or a batch) brings about; False if no queue gives any."""
    queues = dict.fromkeys(QUEUES, 1)
    scratch = Scratch(services.scratch)
    listener = Listener(services, queues, find_handlers(), keeper=LeaseKeeper(), scratch=scratch)
    worked = listener.step(Turns(queues)) is Look.WORK
    scratch.close()
    return worked


def live_on(world: Lived, *, browsing: bool, rounds: int = _ROUNDS) -> Services:
    """A clean worker, until nothing moves, while leases run out: every ticket must have kept itself.

    When `browsing`, a clean browser first tries again, and sweeps pass: what web left half done has no ticket yet.
    """
    services = world.open()
    if browsing:
        browse(services)
    for _ in range(rounds):
        while work_one(services):
            pass
        if is_quiet(services):
            return services
        world.clock.forward(services.settings.stalled_after + 1)
        if browsing:
            sweep(services)
    raise AssertionError(f"it never came to rest: {state_of(services)}")


def state_of(services: Services) -> str:
    videos = [(video.state, video.reason) for video in services.catalog.all()]
    waiting = {queue: services.queues.depth(queue).messages for queue in QUEUES}
    return f"{videos}, tickets {waiting}, active {list(services.catalog.active())}"


def is_quiet(services: Services) -> bool:
    return list(services.catalog.active()) == [] and all(
        services.queues.depth(queue).messages == 0 for queue in QUEUES
    )


def _block_id(number: int) -> str:
    return base64.b64encode(b"block-%06d" % number).decode()
