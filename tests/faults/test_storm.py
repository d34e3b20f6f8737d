"""A short storm; a longer one: `python -m tests.faults.storm --minutes 30 --seed N`, on an account `--storage azure`.

With MATINEE_TEST_EVERY_CALL=1 a short one over each backend.
"""

import os
from pathlib import Path

import pytest

from tests.faults.recording import BACKENDS
from tests.faults.storm import Storm

SECONDS = 15.0
SEED = int(os.environ.get("MATINEE_TEST_SEED", "20300101"))
"""Set it to repeat a run that failed."""


@pytest.mark.timeout(400)
@pytest.mark.parametrize("storage", BACKENDS)
def test_nothing_is_lost_or_done_twice_in_a_storm(
    tmp_path: Path, storage: str, request: pytest.FixtureRequest
) -> None:
    account = request.getfixturevalue("account") if storage == "azure" else None
    outcome = Storm(tmp_path, SEED, account).run(SECONDS)
    print(outcome)
    assert int(outcome.figures["uploads acknowledged"]) > 1
    assert outcome.broken == []
