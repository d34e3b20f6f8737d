"""A process is killed (-9) at the storage calls of a video's life, and the end is the same as if it had not been.

A run takes every tenth call, test_frozen_at_every_call.py others; MATINEE_TEST_EVERY_CALL=1 takes all in both.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.deadly import When
from tests.faults.life import live_on
from tests.faults.recording import STEP, Recording, places, run_into_a_kill
from tests.faults.verdict import check_end

SHARDS = 6
"""Tests that share the cases among them, so that several processes can run them."""


def cases(life: list[Recording]) -> Iterator[tuple[Recording, int, When]]:
    """Before each call, and after the last of each act: after any other is before the next, the store being the same."""
    for recording, number in places(life, first=1):
        yield recording, number, "before"
        if number + STEP > len(recording.calls):
            yield recording, len(recording.calls), "after"


@pytest.mark.parametrize("shard", range(SHARDS))
@pytest.mark.timeout(240)
def test_a_kill_at_any_call_changes_nothing_in_the_end(life: list[Recording], shard: int, tmp_path: Path) -> None:
    for place, (recording, number, when) in enumerate(list(cases(life))[shard::SHARDS]):
        world = recording.world.copy(tmp_path / str(place))
        run_into_a_kill(world, recording.act, number, when)
        try:
            check_end(world, live_on(world, browsing=recording.is_browsing))
        except Exception as error:
            raise AssertionError(f"killed {when} {recording.calls[number - 1]}: {error}") from error


def test_the_calls_include_every_step_of_a_life(life: list[Recording]) -> None:
    """The test of the test: a life recorded without its steps would prove nothing."""
    made = "\n".join(call for recording in life for call in recording.calls)
    for part in ("first", "audio", "ladder", "pictures", "mp4"):
        assert f"'part-g1-{part}'" in made
    for call in ("'sub-audit'", "tables.upsert('audit'", "stage_block", "commit_block_list", "blobs.put('media'", "blobs.put('search'", "queues.delete"):
        assert call in made
    assert len(list(cases(life))) > 60
