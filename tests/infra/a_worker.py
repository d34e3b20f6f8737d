"""A stand-in for a worker process: `a_worker.py SCRATCH`; it holds a ticket for as long as `busy-<its pid>` is there."""

import os
import sys
import time
from pathlib import Path

from workers.report import Report
from workers.scratch import Scratch

root = Path(sys.argv[1])
busy = root / f"busy-{os.getpid()}"
report = Report(Scratch(root), lambda: int(busy.exists()))
while True:
    report.write()
    time.sleep(0.02)
