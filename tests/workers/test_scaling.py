"""Rules: how many dequeue tasks for how much work."""

from pathlib import Path

import pytest

from shared.errors import Invalid
from workers.scaling import RulesFile, fixed, read_rules

BY_DEPTH = [{"depth_below": 100, "tasks": 10}, {"depth_below": 1000, "tasks": 50}, {"tasks": 100}]
BY_SIZE_TOO = [
    {"depth_below": 100, "size_below": 102_400, "tasks": 10},
    {"depth_below": 100, "tasks": 100},
    {"size_below": 102_400, "tasks": 50},
    {"tasks": 250},
]


@pytest.mark.parametrize(("depth", "tasks"), [(0, 10), (99, 10), (100, 50), (999, 50), (1000, 100), (10**9, 100)])
def test_the_depth_decides(depth: int, tasks: int) -> None:
    assert read_rules(BY_DEPTH).tasks(depth) == tasks


@pytest.mark.parametrize(
    ("depth", "size", "tasks"), [(5, 100, 10), (5, 102_400, 100), (500, 102_399, 50), (500, 10**6, 250)]
)
def test_so_does_the_size_of_a_ticket_where_a_rule_says_so(depth: int, size: int, tasks: int) -> None:
    assert read_rules(BY_SIZE_TOO).tasks(depth, size) == tasks


def test_a_number_is_a_rule_for_everything() -> None:
    assert {fixed(3).tasks(depth) for depth in (0, 5, 5000)} == {3}
    assert fixed(3).most() == 3


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (0, "from 1"), (-1, "from 1"), (True, "from 1"), ("two", "number, or a list"), ([], "number, or a list"),
        (2.5, "number, or a list"), ([{"depth_below": 5}], "a rule has"), ([{"tasks": 1, "dept": 5}], "a rule has"),
        ([{"tasks": 1, "depth_below": 5}], "last rule"), ([{"tasks": 2000}], "1000 tasks"), ([3], "a rule has"),
        ([{"tasks": 1, "depth_below": "5"}, {"tasks": 1}], "from 1"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_rule_is_said(found: object, said: str) -> None:
    with pytest.raises(Invalid, match=said):
        read_rules(found)


def write(path: Path, text: str) -> None:
    """As an editor does: another file takes the name."""
    beside = path.with_suffix(".new")
    beside.write_text(text)
    beside.replace(path)


def test_a_change_of_the_file_is_heeded_while_it_runs(tmp_path: Path) -> None:
    path = tmp_path / "pools.toml"
    write(path, "[fast]\ntasks = 2\n[slow]\ntasks = 9\n")
    rules = RulesFile(path, "fast")
    assert rules.current().most() == 2
    write(path, "[fast]\ntasks = [{ depth_below = 10, tasks = 3 }, { tasks = 7 }]\n")
    assert [rules.current().tasks(depth) for depth in (1, 10)] == [3, 7]


@pytest.mark.parametrize("text", ["[fast", "[slow]\ntasks = 1", "[fast]\ntasks = 0", "fast = 3", "[fast]\nx = 1"])
def test_a_mistake_made_while_it_runs_changes_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "pools.toml"
    write(path, "[fast]\ntasks = 2\n")
    rules = RulesFile(path, "fast")
    write(path, text)
    assert rules.current().most() == 2
    path.unlink()
    assert rules.current().most() == 2
    write(path, "[fast]\ntasks = 4\n")
    assert rules.current().most() == 4


@pytest.mark.parametrize("text", ["[fast", "[slow]\ntasks = 1", "[fast]\ntasks = 0", "fast = 3"])
def test_a_mistake_from_the_start_is_refused_with_its_file_and_pool(tmp_path: Path, text: str) -> None:
    path = tmp_path / "pools.toml"
    write(path, text)
    with pytest.raises(Invalid, match=r"pools\.toml"):
        RulesFile(path, "fast")
