"""A seeded storm over a whole site: `python -m tests.faults.storm --minutes 30 --seed 1 [--storage azure]`.

Clients upload all the while; processes are killed, frozen and held up; what they were told is compared with what is
there once all has come to rest. It prints what was done to whom, so that a seed that broke something can be looked at.
"""

import argparse
import hashlib
import logging
import random
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

import structlog

from shared.blobs import every_page
from shared.errors import MatineeError
from shared.services import open_services
from shared.settings import Settings
from shared.tickets import QUEUES
from shared.videos import MEDIA, SOURCES, Video
from tests.azurite.cable import Cable, cable
from tests.azurite.running import Account, azurite
from tests.faults.crowd import Crowd
from tests.faults.ledger import Entry, Ledger, Uploader
from tests.faults.verdict import files_published
from tests.faults.weather import Weather
from tests.workers.clips import a_clip
from workers.sweep import sweep

LEASE = 3.0
_REST_WITHIN = 240.0
_DISK = "160m"
_UPLOADERS = 2
_PAUSE = (0.3, 2.0)


@dataclass(frozen=True)
class Outcome:
    """What a storm came to; `broken` is empty if all held."""

    seed: int
    broken: list[str]
    figures: dict[str, str]

    def __str__(self) -> str:
        lines = [f"seed {self.seed}", *(f"{name}: {value}" for name, value in self.figures.items())]
        return "\n".join([*lines, *(f"BROKEN {what}" for what in self.broken)])


class Storm:
    """Over `storage`: `local` or an account. `say` is told of everything that is done."""

    def __init__(self, folder: Path, seed: int, account: Account | None, say: Callable[[str], None] = print) -> None:
        self._folder = folder
        self._seed = seed
        self._chance = random.Random(seed)
        self._account = account
        self._began = time.monotonic()
        self._say = lambda text: say(f"{time.monotonic() - self._began:6.1f} {text}")
        self._over = threading.Event()
        self._broken: list[str] = []

    def run(self, seconds: float) -> Outcome:
        with ExitStack() as stack:
            disk = stack.enter_context(a_small_disk(self._folder / "data")) if self._account is None else None
            way = stack.enter_context(cable(self._account)) if self._account is not None else None
            settings = self._settings(way)
            self._services = services = open_services(settings, caller="storm")
            (self._folder / "logs").mkdir()
            crowd = Crowd(settings, self._folder / "logs")
            stack.callback(crowd.put_down)
            crowd.start_all()
            weather = Weather(
                crowd, services, self._chance, lease=LEASE, way=way, disk=disk, say=self._say
            )
            calm = self._calm(crowd)
            ledger = self._rage(crowd, weather, seconds)
            self._say("calm again")
            crowd.start_all()
            self._rest(ledger)
            codes = crowd.end()
            if set(codes) - {0, -signal.SIGTERM}:  # one that has only begun to start ends as any program does
                self._broken.append(f"processes ended with {codes}")
            if crowd.left():
                self._broken.append(f"processes left: {crowd.left()}")
            self._judge(ledger, calm)
            return Outcome(self._seed, self._broken, self._figures(ledger, weather))

    def _settings(self, way: Cable | None) -> Settings:
        storage = f"local:{self._folder / 'data'}" if way is None else way.account.connection_string
        return Settings(
            storage=storage, scratch=str(self._folder / "scratch"), secret_key="for tests only",
            min_free=4 << 20, lease=LEASE, max_tries=100, grace=5.0, ffmpeg_threads=1, idle_max=0.3,
            stalled_after=5.0, sweep_every=2.0, garbage_after=3600.0,
        )  # fmt: skip

    def _clips(self) -> dict[str, bytes]:
        return {"short": a_clip(seconds=0.5, width=320, height=180), "other": a_clip(seconds=1, width=426, height=240)}

    def _uploader(self, crowd: Crowd, ledger: Ledger) -> Uploader:
        person = self._services.people.create(f"anna-{secrets.token_hex(3)}", "no password")
        return Uploader(crowd.url, self._services.people.create_token(person.id, "storm"), ledger, self._over)

    def _calm(self, crowd: Crowd) -> dict[str, dict[str, str]]:
        """What each clip becomes when nobody is harmed, and how long that takes."""
        ledger = Ledger()
        uploader = self._uploader(crowd, ledger)
        for name, content in self._clips().items():
            uploader.upload(name, content)
        began = time.monotonic()
        self._rest(ledger)
        self._took_calm = time.monotonic() - began
        return {entry.clip: self._digests(self._services.catalog.get(entry.video)) for entry in ledger.entries}

    def _rage(self, crowd: Crowd, weather: Weather, seconds: float) -> Ledger:
        ledger = Ledger()
        clients = [threading.Thread(target=self._keep_uploading, args=(self._uploader(crowd, ledger), seed))
                   for seed in range(_UPLOADERS)]  # fmt: skip
        stop = time.monotonic() + seconds
        self._until = stop
        for client in clients:
            client.start()
        while time.monotonic() < stop:
            time.sleep(self._chance.uniform(*_PAUSE))
            weather.strike()
        crowd.start_all()
        for client in clients:
            client.join(120)
        return ledger

    def _keep_uploading(self, uploader: Uploader, number: int) -> None:
        chance = random.Random(f"{self._seed} {number}")
        clips = self._clips()
        try:
            while time.monotonic() < self._until:
                name = chance.choice([*clips, "no video"])
                uploader.upload(name, clips.get(name, b"this is a text, and no video " * 500), is_video=name in clips)
                time.sleep(chance.uniform(1.0, 4.0))
        except AssertionError as error:
            self._broken.append(f"a client was refused for good: {error}")

    def _rest(self, ledger: Ledger) -> None:
        until = time.monotonic() + _REST_WITHIN
        while not self._is_at_rest(ledger):
            if time.monotonic() > until:
                self._broken.append(f"no rest within {_REST_WITHIN:.0f} s: {self._state()}")
                return
            time.sleep(0.2)

    def _is_at_rest(self, ledger: Ledger) -> bool:
        try:
            states = [self._services.catalog.get(entry.video).state for entry in ledger.entries]
            waiting = sum(self._services.queues.depth(queue).messages for queue in QUEUES if queue != "housekeeping")
            return all(state in ("published", "failed") for state in states) and not waiting
        except MatineeError:
            return False

    def _state(self) -> str:
        waiting = {queue: self._services.queues.depth(queue).messages for queue in QUEUES}
        states = [(video.id, video.state) for video in self._services.catalog.all()]
        return f"tickets {waiting}, {[one for one in states if one[1] not in ('published', 'failed')]}"

    def _judge(self, ledger: Ledger, calm: dict[str, dict[str, str]]) -> None:
        services = self._services
        for name in ("garbage_after", "stalled_after"):
            object.__setattr__(services.settings, name, 0.0)
        services.queues.clear("housekeeping")
        sweep(services)
        videos = {video.id: video for video in services.catalog.all()}
        for entry in ledger.entries:
            self._check_one(entry, videos.get(entry.video), calm)
        self._check_nothing_is_left(list(videos.values()))

    def _check_one(self, entry: Entry, video: Video | None, calm: dict[str, dict[str, str]]) -> None:
        wanted = "published" if entry.is_video else "failed"
        if video is None or video.state != wanted:
            self._broken.append(f"{entry} is {video and (video.state, video.reason)}, not {wanted}")
            return
        events = [event.what for event in self._services.catalog.events(video.id)]
        told = [event.type for event in self._services.audit.read(video.id)]
        if events.count(wanted) != 1 or told.count(f"video.{wanted}") != 1:
            self._broken.append(f"{video.id} was {wanted} {events.count(wanted)} times, told {told}")
        if video.state == "failed" and not video.reason:
            self._broken.append(f"{video.id} failed without a reason")
        if video.state == "published" and self._digests(video) != calm[entry.clip]:
            self._broken.append(f"{video.id} is not byte for byte what a calm run makes of {entry.clip}")

    def _check_nothing_is_left(self, videos: list[Video]) -> None:
        services = self._services
        for queue in QUEUES:
            if queue != "housekeeping" and services.queues.depth(queue).messages:
                self._broken.append(f"tickets are left in {queue}")
        ours = ("not a ticket", "this worker knows")
        poison = [one for one in services.poison.list() if not any(words in one.reason for words in ours)]
        self._broken += [f"set aside: {one.id} {one.reason[:200]}" for one in poison]
        shown = [video for video in videos if video.state == "published"]
        wanted = {name for video in shown for name in files_published(services, video)}
        media = {blob.name for page in every_page(services.blobs, MEDIA) for blob in page.blobs}
        self._broken += [f"orphan {name}" for name in sorted(media - wanted)]
        sources = {blob.name for page in every_page(services.blobs, SOURCES) for blob in page.blobs}
        kept = {video.source for video in videos if video.state != "deleted"}
        self._broken += [f"orphan source {name}" for name in sorted(sources - kept)]
        done = {video.id for video in videos if video.state in ("published", "failed")}
        self._broken += [f"active {video}" for video in services.catalog.active() if video in done]
        found = sum(services.finder.search(title).total for title in {video.title for video in shown})
        if found != len(shown):
            self._broken.append(f"{len(shown)} published, {found} found by search")
        scratch = [path.name for path in (self._folder / "scratch").glob("worker-*") if path.is_dir()]
        self._broken += [f"left in scratch: {name}" for name in scratch]

    def _digests(self, video: Video) -> dict[str, str]:
        """What is published, by names without the video and the attempts; a playlist's own names likewise."""
        found = {}
        for name in files_published(self._services, video):
            content = self._services.blobs.get(MEDIA, name)
            if name.endswith((".m3u8", ".vtt")):
                content = _nameless(content.decode()).encode()
            found[_nameless(name.replace(video.id, "video"))] = hashlib.sha256(content).hexdigest()
        return found

    def _figures(self, ledger: Ledger, weather: Weather) -> dict[str, str]:
        took = sorted(self._seconds(entry) for entry in ledger.entries if entry.is_video)
        cuts = quantiles(took, n=20) if len(took) > 1 else [took[0] if took else 0.0] * 19
        return {
            "uploads acknowledged": str(len(ledger.entries)),
            "requests asked again": str(ledger.refused),
            "faults": ", ".join(f"{count} {what}" for what, count in weather.done.most_common()),
            "garbage messages": str(weather.garbage),
            "commit to published, calm": f"{self._took_calm:.1f} s for {len(self._clips())} at once",
            "commit to published, storm": f"p50 {cuts[9]:.1f} s, p95 {cuts[18]:.1f} s",
        }

    def _seconds(self, entry: Entry) -> float:
        events = {event.what: event.at for event in self._services.catalog.events(entry.video)}
        if "published" not in events or "uploaded" not in events:
            return 0.0
        return (events["published"] - events["uploaded"]).total_seconds()


def _nameless(text: str) -> str:
    return re.sub(r"(g\d+/[\w-]+)/[0-9a-f]{8}/", r"\1/", text)


@contextmanager
def a_small_disk(folder: Path) -> Iterator[Path | None]:
    """A disk of its own for the data, where this user may mount one; else there is no fault of a full disk."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={_DISK}", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(mount, check=False, capture_output=True).returncode == 0
    except FileNotFoundError:
        mounted = False
    try:
        yield folder if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.storm", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--storage", choices=["local", "azure"], default="local")
    options = parser.parse_args(arguments)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        account = None
        if options.storage == "azure":
            (Path(folder) / "azurite").mkdir()
            account = stack.enter_context(azurite(Path(folder) / "azurite")).account()
        (Path(folder) / "site").mkdir()
        outcome = Storm(Path(folder) / "site", options.seed, account).run(options.minutes * 60)
    print(outcome)
    return 1 if outcome.broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
