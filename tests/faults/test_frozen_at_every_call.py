"""A process is frozen at storage calls of a video's life until another has done its work, and then woken.

A run takes every tenth call, test_killed_at_every_call.py others; MATINEE_TEST_EVERY_CALL=1 takes all in both.
"""

from pathlib import Path

import pytest

from tests.faults.life import live_on
from tests.faults.recording import Recording, places, put_down, run_into_a_freeze, thaw
from tests.faults.verdict import check_end

SHARDS = 6


@pytest.mark.parametrize("shard", range(SHARDS))
@pytest.mark.timeout(240)
def test_one_woken_after_its_lease_mixes_nothing_and_overwrites_nothing(
    life: list[Recording], shard: int, tmp_path: Path
) -> None:
    cases = list(places(life, first=6))
    for place, (recording, number) in enumerate(cases[shard::SHARDS]):
        world = recording.world.copy(tmp_path / str(place))
        frozen = run_into_a_freeze(world, recording.act, number)
        try:
            published = live_on(world, browsing=recording.is_browsing).catalog
            [before] = list(published.all())
            thaw(frozen)
            [after] = list(published.all())
            assert (before.state, before.playback) == (after.state, after.playback)
            check_end(world, live_on(world, browsing=recording.is_browsing))
        except Exception as error:
            put_down(frozen)
            raise AssertionError(f"frozen before {recording.calls[number - 1]}: {error}") from error
