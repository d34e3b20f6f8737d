"""Calls reach those who listen, a few of them, at once; a bus that carries nothing is found out."""

import os
import signal
import socket
import threading
import time
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from shared.wake import Bus, Call, Ear, NoBus
from shared.wake.redis import RedisBus
from shared.wake.sockets import SocketBus
from tests.wake.conftest import Way
from tests.wake.server import a_redis
from tests.workers.processes import wait_until

HERE = "a site"
CALL = Call(account=HERE, queue="ingest", size=120)


def listening(bus: Bus, *queues: str, account: str = HERE) -> Ear:
    """One that hears by now."""
    ear = bus.ear(account, queues or ("ingest",))
    assert ear is not None
    until = time.monotonic() + 10
    while not ear.is_trusted():
        assert time.monotonic() < until
        ear.wait(0.02)
    return ear


def test_a_call_arrives_as_it_was_made(way: Way) -> None:
    bus = way.open()
    with closing(listening(bus)) as ear:
        bus.call(CALL)
        assert ear.wait(5) == CALL


def test_nothing_arrives_that_was_not_called(way: Way) -> None:
    bus = way.open()
    with closing(listening(bus, "index", "transcode-low")) as ear:
        bus.call(CALL)
        assert ear.wait(0.5) is None


def test_an_ear_of_several_queues_hears_each(way: Way) -> None:
    bus = way.open()
    with closing(listening(bus, "index", "ingest")) as ear:
        for queue in ("ingest", "index"):
            bus.call(Call(account=HERE, queue=queue))
        assert {call.queue for call in (ear.wait(5), ear.wait(5)) if call} == {"ingest", "index"}


def test_one_ticket_calls_two_of_many_and_never_all(way: Way) -> None:
    bus = way.open()
    with ExitStack() as stack:
        ears = [stack.enter_context(closing(listening(bus))) for _ in range(16)]
        for _ in range(5):
            bus.call(CALL)
            assert sum(ear.wait(0.05) is not None for ear in ears) == 2


def test_many_tickets_call_as_many(way: Way) -> None:
    bus = way.open()
    with ExitStack() as stack:
        ears = [stack.enter_context(closing(listening(bus))) for _ in range(8)]
        bus.call(Call(account=HERE, queue="ingest", count=20))
        assert all(ear.wait(1) for ear in ears)


def test_who_is_deaf_is_not_called_so_that_another_is(way: Way) -> None:
    bus = way.open()
    with closing(listening(bus)) as deaf, closing(listening(bus)) as other:
        deaf.deafen()
        assert not deaf.heard_all_since(0)
        bus.call(CALL)
        assert other.wait(5) == CALL
        began = time.monotonic()
        deaf.wait(0.05)
        assert not deaf.heard_all_since(began), "it listens again, but not since then"


def test_an_ear_knows_since_when_it_heard_all(way: Way) -> None:
    before = time.monotonic()
    with closing(listening(way.open())) as ear:
        assert not ear.heard_all_since(before)
        assert ear.heard_all_since(time.monotonic())
        ear.wait(2.5)
        assert ear.heard_all_since(time.monotonic() - 2)


def test_a_bus_that_carries_nothing_is_found_out_and_trusted_again_when_it_does(way: Way) -> None:
    bus = way.open()
    with closing(listening(bus)) as ear:
        before = time.monotonic()
        way.damage()
        until = time.monotonic() + 5
        while ear.heard_all_since(before):
            assert ear.wait(0.1) is None
            assert time.monotonic() < until
        way.mend()
        wait_until(lambda: ear.wait(0.05) is None and ear.is_trusted(), 10, "it is trusted again")
        time.sleep(1.1)  # a caller that met no bus leaves it alone for a second
        bus.call(CALL)
        assert ear.wait(5) == CALL


def test_a_caller_meets_no_failure_where_there_is_no_bus(way: Way) -> None:
    bus = way.open()
    bus.call(CALL)
    way.damage()
    began = time.monotonic()
    for _ in range(100):
        bus.call(CALL)
    assert time.monotonic() - began < 1


def test_a_site_does_not_wake_another_on_the_same_redis(tmp_path: Path) -> None:
    with a_redis(tmp_path) as server:
        bus = RedisBus(server.url)
        with closing(listening(bus, account="another site")) as other, closing(listening(bus)) as ear:
            bus.call(CALL)
            assert ear.wait(5) == CALL
            assert other.wait(0.3) is None


def test_a_redis_that_hangs_holds_no_caller_up(tmp_path: Path) -> None:
    with a_redis(tmp_path) as server:
        bus = RedisBus(server.url)
        bus.call(CALL)
        os.kill(server.process.pid, signal.SIGSTOP)
        try:
            took = []
            for _ in range(20):
                began = time.monotonic()
                bus.call(CALL)
                took.append(time.monotonic() - began)
            assert max(took) < 0.5
            assert sum(took) < 1
        finally:
            os.kill(server.process.pid, signal.SIGCONT)


def test_the_socket_of_a_dead_process_is_cleared_away(folder: Path) -> None:
    bus = SocketBus(folder)
    child = os.fork()
    if child == 0:
        listening(bus)
        os._exit(0)
    os.waitpid(child, 0)
    assert len(list(folder.rglob("ingest/*"))) == 1
    with closing(listening(bus)) as ear:
        bus.call(CALL)
        bus.call(CALL)
        assert ear.wait(5) == CALL
        assert len(list(folder.rglob("ingest/*"))) == 1
    assert list(folder.rglob("ingest/*")) == []


def test_a_folder_too_deep_for_a_socket_is_replaced_by_one_of_our_own(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100) / ("e" * 100)
    with closing(listening(SocketBus(deep))) as ear:
        SocketBus(deep).call(CALL)
        assert ear.wait(5) == CALL
    assert not deep.exists()


def test_calls_of_other_threads_and_processes_arrive(way: Way) -> None:
    bus = way.open()
    with closing(listening(bus)) as ear:
        threading.Thread(target=way.open().call, args=(CALL,)).start()
        assert ear.wait(5) == CALL
        child = os.fork()
        if child == 0:
            way.open().call(CALL)
            os._exit(0)
        assert ear.wait(5) == CALL
        os.waitpid(child, 0)


def test_without_a_bus_nobody_listens() -> None:
    NoBus().call(CALL)
    assert NoBus().ear(HERE, ["ingest"]) is None


@pytest.mark.parametrize("wrong", [b"", b"{", b"null", b'{"queue": 5}', b"\xff" * 300])
def test_what_is_no_call_is_not_heard(folder: Path, wrong: bytes) -> None:
    bus = SocketBus(folder)
    with closing(listening(bus)) as ear, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        [place] = folder.rglob("ingest/*")
        sender.sendto(wrong, str(place))
        bus.call(CALL)
        assert ear.wait(5) == CALL
