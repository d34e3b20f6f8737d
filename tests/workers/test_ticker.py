"""The thread behind the lease keeper."""

import threading

from workers.ticker import Ticker


def test_a_chore_that_fails_is_done_again_at_the_next_tick() -> None:
    done = threading.Event()
    calls = []

    def chore() -> None:
        calls.append(1)
        if len(calls) == 1:
            raise RuntimeError("the first time")
        done.set()

    ticker = Ticker("chore", chore, every=0.01)
    ticker.start()
    assert done.wait(5)
    ticker.close()
    assert not ticker.is_alive()
