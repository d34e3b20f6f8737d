"""A stand-in for a worker process: `a_worker.py SCRATCH`; it holds a ticket for as long as `busy-<its pid>` is there."""

import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from workers.report import Report
from workers.scratch import Scratch

root = Path(sys.argv[1])
busy = root / f"busy-{os.getpid()}"
scratch, started = Scratch(root), datetime.now(UTC)
while True:
    tickets = ("a ticket",) if busy.exists() else ()
    report = Report(pid=os.getpid(), pool="work", queues=("low",), started=started, tasks=1, tickets=tickets)
    scratch.say(msgspec.json.encode(report))
    time.sleep(0.02)
