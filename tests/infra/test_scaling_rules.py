"""The rules a pool is scaled by: read, checked, and read again when their file changes."""

from pathlib import Path

import pytest

from infra.pools import POOLS, Pool, PoolsFile, pools_file, read_pools
from shared.errors import Invalid
from shared.settings import Settings


def a_pool(folder: Path, text: str, cores: int = 8) -> Pool:
    path = folder / "pools.toml"
    path.write_text(f"[slow]\nqueues = {{ low = 1 }}\ntasks = 1\n{text}")
    return read_pools(path, cores=cores)[0]


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("processes = 3", (3, 3)),
        ("cores_per_process = 2", (4, 4)),
        ("cores_per_process = 2\nfloor = 1", (1, 4)),
        ("cores_per_process = 100\nfloor = 0", (0, 1)),
        ("floor = 0\nceiling = 7", (0, 7)),
        ("ceiling = 3\ncores_per_process = 2\nfloor = 1", (1, 3)),
        ("ceiling = 9\ncores_per_process = 2\nfloor = 1", (1, 4)),
    ],
)
def test_a_pool_has_a_floor_and_a_ceiling(tmp_path: Path, text: str, bounds: tuple[int, int]) -> None:
    rule = a_pool(tmp_path, text).rule
    assert (rule.floor, rule.ceiling) == bounds
    assert rule.is_fixed == (bounds[0] == bounds[1])


def test_a_process_works_on_as_many_tickets_as_it_has_tasks_of_a_batch_each(tmp_path: Path) -> None:
    path = tmp_path / "pools.toml"
    path.write_text("[slow]\nqueues = { low = 1 }\ntasks = [{ depth_below = 9, tasks = 2 }, { tasks = 5 }]\nbatch = 4\nprocesses = 1")
    assert read_pools(path)[0].rule.slots == 20


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "needs processes, ceiling or cores_per_process"),
        ("processes = 0", "processes is a whole number from 1, not 0"),
        ("processes = 2\nfloor = 1", "no floor"),
        ("floor = 3\nceiling = 2", "floor \\(3\\) is above its ceiling \\(2\\)"),
        ("ceiling = 2\nfloor = -1", "floor is a whole number from 0, not -1"),
        ("ceiling = true", "ceiling is a whole number from 1, not True"),
        ("ceiling = 2\ntarget = 'soon'", "target is a number from 1 to 86400, not 'soon'"),
        ("ceiling = 2\ncool_down = nan", "cool_down is a number from 0"),
        ("ceiling = 2\ncpu_below = 90", "cpu_below is a number from 0.01 to 1, not 90"),
        ("celling = 2", "nobody knows celling; there are .*ceiling"),
    ],
)
def test_a_rule_that_cannot_be_is_refused_by_file_pool_and_name(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(Invalid, match=f"pools.toml: pool 'slow': .*{said}"):
        a_pool(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("queues = {}\ntasks = 1", "queues are names with their weights"),
        ("queues = { low = 0 }\ntasks = 1", "the weight of the queue low is a whole number from 1, not 0"),
        ("queues = { low = 1 }\ntasks = 1\nbatch = 33", "batch is a whole number from 1 to 32, not 33"),
        ("queues = { low = 1 }", "needs queues, tasks, and how many processes"),
    ],
)
def test_what_would_only_fail_in_the_processes_is_refused_before_they_start(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "pools.toml").write_text(f"[slow]\nprocesses = 1\n{text}")
    with pytest.raises(Invalid, match=f"pool 'slow'.* {said}"):
        read_pools(tmp_path / "pools.toml")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"none\.toml cannot be read: No such file"):
        read_pools(tmp_path / "none.toml")


def test_a_setting_names_another_file(tmp_path: Path) -> None:
    assert pools_file(Settings()) == POOLS
    assert pools_file(Settings(pools=str(tmp_path / "mine.toml"))) == tmp_path / "mine.toml"


def test_a_changed_file_is_heeded_and_a_mistake_in_it_is_told_and_is_not(tmp_path: Path) -> None:
    a_pool(tmp_path, "ceiling = 2")
    said: list[str] = []
    file = PoolsFile(tmp_path / "pools.toml", said.append)
    assert [pool.rule.ceiling for pool in file.current()] == [2]
    a_pool(tmp_path, "ceiling = 12")
    assert [pool.rule.ceiling for pool in file.current()] == [12]
    (tmp_path / "pools.toml").write_text("[slow]\nqueues = { low = 1 }\ntasks = 1\nceiling = 'many'\n")
    assert [pool.rule.ceiling for pool in file.current()] == [12]
    assert [pool.rule.ceiling for pool in file.current()] == [12]
    (tmp_path / "pools.toml").unlink()
    assert [pool.rule.ceiling for pool in file.current()] == [12]
    assert [sentence.split("pools.toml")[1].split(".")[0] for sentence in said] == [
        " says",
        ": pool 'slow': ceiling is a whole number from 1, not 'many'",
        " cannot be read: No such file or directory",
    ]
