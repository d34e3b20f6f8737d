"""infra/pools.toml becomes processes."""

from pathlib import Path

import pytest

from infra.pools import read_pools
from shared.errors import Invalid


def a_file(folder: Path, text: str) -> Path:
    path = folder / "pools.toml"
    path.write_text(text)
    return path


def test_processes_follow_the_cores_where_asked_to(tmp_path: Path) -> None:
    path = a_file(tmp_path, "[slow]\nqueues = { low = 1 }\ncores_per_process = 2\ntasks = 1\n")
    assert [read_pools(path, cores=cores)[0].processes for cores in (1, 2, 3, 8)] == [1, 1, 1, 4]


def test_each_process_has_a_name_of_its_own(tmp_path: Path) -> None:
    path = a_file(tmp_path, "[fast]\nqueues = { high = 6, low = 1 }\nprocesses = 2\ntasks = 3\n")
    commands = dict(read_pools(path)[0].commands())
    assert list(commands) == ["fast-1", "fast-2"]
    assert commands["fast-1"][-7:] == ["fast", "high=6", "low=1", "--rules", str(path), "--batch", "1"]


@pytest.mark.parametrize(
    ("text", "named"),
    [("[slow", "not TOML"), ("[slow]\ntasks = 1", "'slow'"), ('[slow]\nqueues = {a=1}\ntasks = "x"', "'slow'"),
     ("[slow]\nqueues = {a=1}\nprocesses = 1\ntasks = [{ depth_below = 5, tasks = 2 }]", "'slow': the last rule")],
)
def test_what_cannot_be_understood_is_named(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(Invalid, match=named):
        read_pools(a_file(tmp_path, text))
