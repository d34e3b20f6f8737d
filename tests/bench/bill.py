"""What a site asks of its account, request by request: for each video from upload to search, and for a day of idleness."""

import json
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from infra.prepare.places import SAMPLE
from shared.bill import Prices
from shared.settings import Settings
from tests.azurite.running import Azurite, azurite
from tests.bench.figure import Figure
from tests.bench.site import Client
from tests.e2e.scattered import Scattered
from tests.infra.running import eventually

_DAY = 86_400
_VIDEOS = 1_000
_WARM = 15.0
"""Seconds until an idle listener waits as long as it may."""

Asked = Counter[tuple[str, str]]


def measure(folder: Path, *, quick: bool) -> list[Figure]:
    seconds, videos = (10, 1) if quick else (60, 4)
    with azurite(folder) as emulator:
        idle, relaxed = (_a_second(folder / most, emulator, seconds, most) for most in ("1", "10"))
        started, took_to_start = _idle(folder / "started", emulator, _WARM, "1")
        worked, took = _working(folder / "working", emulator, videos)
    idling = {asked: started[asked] + idle.get(asked, 0.0) * (took - took_to_start) for asked in started | worked}
    for_videos = {asked: max(0.0, count - idling[asked]) for asked, count in worked.items()}
    return [
        _figure("a day of idleness, MATINEE_IDLE_MAX=1", idle, _DAY),
        _figure("a day of idleness, MATINEE_IDLE_MAX=10", relaxed, _DAY),
        _figure(f"{_VIDEOS:,} videos of five seconds", for_videos, _VIDEOS / videos),
    ]


def _a_second(folder: Path, emulator: Azurite, seconds: float, most: str) -> dict[tuple[str, str], float]:
    """What a longer run asked for more than a shorter: without what every start does, and the first quick polls."""
    short, took = _idle(folder / "short", emulator, _WARM, most)
    long, took_longer = _idle(folder / "long", emulator, _WARM + seconds, most)
    return {asked: max(0, count - short[asked]) / (took_longer - took) for asked, count in long.items()}


def _figure(what: str, counts: Mapping[tuple[str, str], float], times: float) -> Figure:
    many = {asked: round(count * times) for asked, count in counts.items() if round(count * times)}
    most = sorted(many.items(), key=lambda item: -item[1])[:4]
    told = ", ".join(f"{operation} {count:,}" for (_, operation), count in most)
    dollars = Prices.read(Settings().prices).cost(many)
    return Figure(figure=what, value=round(dollars, 2), unit="USD", against=f"{sum(many.values()):,} requests: {told}, ...")


def _idle(folder: Path, emulator: Azurite, seconds: float, most: str) -> tuple[Asked, float]:
    site = Scattered(folder, emulator.account(), MATINEE_IDLE_MAX=most).start()
    return _ended(site, lambda: time.sleep(seconds))


def _working(folder: Path, emulator: Azurite, videos: int) -> tuple[Asked, float]:
    site = Scattered(folder, emulator.account(), MATINEE_IDLE_MAX="1").start()

    def work() -> None:
        site.manage("user", "create", "anna", "--password-stdin", stdin="correct horse battery staple")
        client = Client(site.url, site.manage("token", "create", "anna").stdout.strip())
        made = [client.upload(SAMPLE) for _ in range(videos)]
        while {client.video(video)["state"] for video in made} != {"published"}:
            time.sleep(1)
        time.sleep(3)

    return _ended(site, work)


def _ended(site: Scattered, work: object) -> tuple[Asked, float]:
    """What every process said it had asked for, and the seconds they had."""
    began = time.monotonic()
    try:
        eventually(lambda: "Booting worker" in site.log("web"), 60, "web answers")
        work()  # type: ignore[operator]
    finally:
        site.end()
    counts: Asked = Counter()
    for log in site.logs.iterdir():
        for line in log.read_text().splitlines():
            if '"drained"' in line:
                asked = json.loads(line)["operations"].items()
                counts.update({tuple(name.split(" ", 1)): count for name, count in asked})  # type: ignore[misc]
    return counts, time.monotonic() - began
