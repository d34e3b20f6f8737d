"""The ticket all of them work: it may take a while, then it leaves one line in a file, and that is all."""

import os
import time
from functools import cache
from pathlib import Path

LEDGER = "BENCH_LEDGER"
SECONDS = "BENCH_SECONDS"
GATE = "BENCH_GATE"
OPEN = "open"


def work(number: int) -> None:
    """The line: the ticket's number, the process, when it began and when it ended (monotonic, the same for all)."""
    began = time.monotonic()
    _wait_at_the_gate()
    if seconds := float(os.environ.get(SECONDS, "0")):
        time.sleep(seconds)
    ledger = os.open(os.environ[LEDGER], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(ledger, f"{number} {os.getpid()} {began} {time.monotonic()}\n".encode())
    finally:
        os.close(ledger)


@cache
def _wait_at_the_gate() -> None:
    """With its first ticket in hand, a process waits for the others, so that none of them drains the queue alone."""
    if GATE in os.environ:
        gate = Path(os.environ[GATE])
        (gate / str(os.getpid())).touch()
        while not (gate / OPEN).exists():
            time.sleep(0.002)
