"""Celery; BENCH_LATE turns on late acknowledgement, and gives back what is held for longer than that many seconds."""

import os

from celery import Celery

from tests.bench.peers.apps import ticket

app = Celery("bench", broker=os.environ["BENCH_REDIS"])
app.conf.task_ignore_result = True
if late := os.environ.get("BENCH_LATE"):
    app.conf.task_acks_late = True
    app.conf.task_reject_on_worker_lost = True
    app.conf.broker_transport_options = {"visibility_timeout": float(late)}


@app.task
def work(number: int) -> None:
    ticket.work(number)


def send(number: int) -> None:
    work.delay(number)
