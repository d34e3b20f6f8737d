"""Being told to end."""

import os
import signal
import threading
import time

from workers.signals import EndSignals


def test_two_signals_in_quick_succession_are_two_whichever_thread_they_wake() -> None:
    """In a process of its own, with a thread more likely to be woken than the main one, which is kept from running."""
    child = os.fork()
    if child == 0:
        signals = EndSignals()
        threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.05)
        told = [signals.wait(1.0), signals.wait(1.0), signals.wait(0.05)]
        os._exit(0 if told == [True, True, False] else 1)
    assert os.waitpid(child, 0)[1] == 0
