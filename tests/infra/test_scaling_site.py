"""A real site whose pool grows with what waits in its queue, and shrinks again."""

import re
import time
from collections.abc import Callable
from pathlib import Path

from shared.clock import SystemClock
from shared.services import open_services
from shared.settings import Settings
from shared.tickets import Encode
from shared.videos import new_video_id
from tests.infra.running import Site, eventually
from tests.workers.clips import a_long_clip
from tests.workers.ladder import only_the_ladder
from workers.report import read_reports

POOLS = """
[transcode]
queues = {{ transcode-normal = 1, transcode-low = 1 }}
tasks = 1
floor = {floor}
ceiling = 2
target = 2
cool_down = 1
service = 2
"""


def test_a_pool_goes_from_none_to_two_and_back_again_and_then_as_a_new_file_says(
    a_site: Callable[..., Site], tmp_path: Path
) -> None:
    file = tmp_path / "pools.toml"
    file.write_text(POOLS.format(floor=0))
    site = a_site(MATINEE_POOLS=str(file), MATINEE_SCALE_EVERY="0.2")
    services = open_services(Settings(storage=f"local:{site.data}", secret_key="any"), caller="test")
    services.tickets.send_all(some_tickets(150))
    site.start("--no-sample")
    eventually(lambda: sizes(site)[:1] == ["0 to 2"], 20, "it grows at once")
    eventually(lambda: len(site.children("workers.pool transcode ")) == 2, 10, "two processes run")
    eventually(lambda: services.queues.depth("transcode-low").messages == 0, 40, "all is worked off")
    eventually(lambda: sizes(site)[-1].endswith(" to 0"), 20, "it shrinks")
    eventually(lambda: not site.children("workers.pool transcode "), 10, "no process is left")
    file.write_text(POOLS.format(floor=1))
    eventually(lambda: sizes(site)[-1] == "0 to 1", 10, "the new file is heeded")
    file.write_text("[other]\nqueues = { index = 1 }\ntasks = 1\nprocesses = 1\n")
    eventually(lambda: sizes(site)[-1] == "1 to 0", 10, "a pool that is no longer there ends")
    eventually(lambda: site.children("workers.pool other "), 10, "and one that is new begins")
    assert site.stop() == 0
    assert site.processes() == {}
    assert not [line for line in site.said if "was ended" in line or "starting it again" in line]


def test_a_process_with_a_long_ticket_in_hand_outlives_the_shrinking_of_its_pool(
    a_site: Callable[..., Site], tmp_path: Path
) -> None:
    file = tmp_path / "pools.toml"
    file.write_text(POOLS.format(floor=0))
    site = a_site(MATINEE_POOLS=str(file), MATINEE_SCALE_EVERY="0.2", MATINEE_GRACE="0.5", MATINEE_FFMPEG_THREADS="1")
    services = open_services(Settings(storage=f"local:{site.data}", secret_key="any"), caller="test")
    only_the_ladder(services, a_long_clip(seconds=600))
    services.tickets.send_all(some_tickets(40))
    site.start("--no-sample")
    eventually(lambda: sizes(site)[-1] == "2 to 1", 40, "one is drained once all but the long work is done")
    [busy] = [pid for pid in site.children("workers.pool transcode ") if held(site, pid)]
    time.sleep(1.5)
    assert sizes(site)[-1] == "2 to 1"
    assert site.children("workers.pool transcode ") == [busy]
    assert site.children("-progress")


def test_a_file_of_pools_with_a_mistake_is_refused_at_the_start(a_site: Callable[..., Site], tmp_path: Path) -> None:
    file = tmp_path / "pools.toml"
    file.write_text("[transcode]\nqueues = { transcode-low = 1 }\ntasks = 1\nfloor = 3\nceiling = 2\n")
    site = a_site(MATINEE_POOLS=str(file)).start("--no-sample")
    assert site.exit_code() == 1
    assert site.said == [f"{file}: pool 'transcode': its floor (3) is above its ceiling (2)"]


def some_tickets(count: int) -> list[Encode]:
    """Of videos nobody knows: each is done in no time."""
    now = SystemClock().now()
    return [
        Encode(video=new_video_id(), generation=1, made=now, part="ladder", priority="low") for _ in range(count)
    ]


def held(site: Site, pid: int) -> int:
    return next((len(one.tickets) for one in read_reports(site.data / "scratch") if one.pid == pid), 0)


def sizes(site: Site) -> list[str]:
    found = (re.match(r"transcode goes from (\d+ to \d+) processes: ", line) for line in list(site.said))
    return [match[1] for match in found if match] or [""]
