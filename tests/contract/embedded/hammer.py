"""What the processes of the storm do, apart from the tests so that it can be spawned; each hands back what it saw."""

import time
from datetime import timedelta
from multiprocessing.queues import Queue
from pathlib import Path

from tests.contract.embedded.places import open_queues, open_tables

LEASE = timedelta(seconds=30)


def send_and_write(folder: Path, number: int, messages: int, seen: "Queue[tuple[str, list[str], float]]") -> None:
    queues, tables = open_queues(folder), open_tables(folder)
    sent, worst = [], 0.0
    for count in range(messages):
        body = f"{number}-{count}"
        began = time.monotonic()
        queues.send("work", body)
        tables.upsert("videos", f"p{number}", "row", {"n": count})
        worst = max(worst, time.monotonic() - began)
        sent.append(body)
    seen.put(("sent", sent, worst))


def take_renew_delete(folder: Path, seen: "Queue[tuple[str, list[str], float]]") -> None:
    """Until one with the body "stop" comes."""
    queues = open_queues(folder)
    taken, worst = [], 0.0
    while True:
        for message in queues.receive("work", count=4, visibility=LEASE):
            if message.body == "stop":
                queues.update("work", message.id, message.receipt or "", visibility=timedelta(0))
                seen.put(("taken", taken, worst))
                return
            began = time.monotonic()
            receipt = queues.update("work", message.id, message.receipt or "", visibility=LEASE)
            worst = max(worst, time.monotonic() - began)
            queues.delete("work", message.id, receipt)
            taken.append(message.body)
