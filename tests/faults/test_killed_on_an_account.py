"""On an account too: a process killed or frozen at calls spread over a video's life, and the end is the same.

A life there takes seconds, so a run takes a share of the calls; MATINEE_TEST_EVERY_CALL=1 takes every one.
"""

import os
import signal
from pathlib import Path

import pytest

from tests.azurite.running import Azurite
from tests.faults.far import FarWorld, Life, begin, record
from tests.faults.life import live_on
from tests.faults.recording import EVERY_CALL, assert_frozen, put_down, thaw
from tests.faults.verdict import check_end

SHARDS = 3
_PATIENCE = 60
"""Rounds of a second and more: the lease on the search index alone lasts half a minute."""
_STEP = 1 if EVERY_CALL else 193
_HALF_A_STEP = _STEP // 2


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory, emulator: Azurite) -> Life:
    """With a lease nobody loses on a busy machine either: a life that loses one does some of its work again."""
    return record(FarWorld(tmp_path_factory.mktemp("life"), emulator.account(), lease=60.0))


@pytest.mark.parametrize("shard", range(SHARDS))
@pytest.mark.timeout(3000)
def test_a_kill_changes_nothing_in_the_end(life: Life, shard: int, tmp_path: Path, emulator: Azurite) -> None:
    for number in range(1 + shard * _STEP, len(life.calls) - 1, SHARDS * _STEP):
        world = FarWorld(tmp_path / str(number), emulator.account())
        when = "before" if number % 2 else "after"
        _, status = os.waitpid(begin(world, number, when, signal.SIGKILL), 0)
        assert os.WIFSIGNALED(status), f"call {number} was never made"
        try:
            check_end(world, live_on(world, browsing=number <= life.browsing, rounds=_PATIENCE))
        except Exception as error:
            raise AssertionError(f"killed {when} call {number}, {life.calls[number - 1]}: {error}") from error


@pytest.mark.parametrize("shard", range(SHARDS))
@pytest.mark.timeout(3000)
def test_one_woken_after_its_lease_mixes_nothing(life: Life, shard: int, tmp_path: Path, emulator: Azurite) -> None:
    for number in range(1 + _HALF_A_STEP + shard * _STEP, len(life.calls) - 1, SHARDS * _STEP):
        world = FarWorld(tmp_path / str(number), emulator.account())
        frozen = begin(world, number, "before", signal.SIGSTOP)
        assert_frozen(frozen, number)
        try:
            published = live_on(world, browsing=number <= life.browsing, rounds=_PATIENCE).catalog
            [before] = list(published.all())
            thaw(frozen)
            [after] = list(published.all())
            assert (before.state, before.playback) == (after.state, after.playback)
            check_end(world, live_on(world, browsing=number <= life.browsing, rounds=_PATIENCE))
        except Exception as error:
            put_down(frozen)
            raise AssertionError(f"frozen before call {number}, {life.calls[number - 1]}: {error}") from error


def test_the_calls_include_every_step_of_a_life(life: Life) -> None:
    made = "\n".join(life.calls)
    for call in ("stage_block", "commit_block_list", "'part-g1-ladder'", "blobs.put('media'", "blobs.put('search'"):
        assert call in made
    assert life.browsing > 10
