"""One machine's whole site under one roof: web and worker pools as child processes, kept running, stopped together."""

import argparse
import asyncio
import contextlib
import os
import shlex
import signal
import socket
import sys
import urllib.request
from asyncio import FIRST_COMPLETED
from collections.abc import Callable, Sequence

from infra import address, data_folder, first_start, web_server
from infra.children import Child, Children
from infra.data_folder import ROOT, DataFolder
from infra.logs import Log
from infra.pools import PoolsFile, pools_file
from infra.scaling.processes import Scaling
from infra.scaling.processor import Processor
from infra.scaling.scaler import Scaler
from shared.errors import Invalid, MatineeError
from shared.metrics import MetricsServer
from shared.services import Services, metrics_folder, open_services
from shared.settings import Settings
from workers.figures import gauges
from workers.scratch import last_sign

READY_WITHIN = 60.0
_LOOK_EVERY = 0.5
_MARGIN = 15.0
"""Seconds past their own grace, in which they give back what is in hand, before children are killed."""
_HURRIED = 3.0


class Supervisor:
    def __init__(self, folder: DataFolder, listener: socket.socket, services: Services, environment: dict[str, str]):
        self.url = address.url_of(listener)
        self._folder = folder
        self._services = services
        self._environment = environment
        self._pools = PoolsFile(pools_file(services.settings), say)
        self._children = Children()
        self._scaling = Scaling(self._pools, self._scaler(), self._new_worker, self._children, services.scratch, say)
        self._listener = listener
        self._stop = asyncio.Event()
        self._hurry = asyncio.Event()
        self._is_homeless = False

    async def run(self, *, sample: bool) -> int:
        self._heed_signals()
        self._children.start(self._web())
        self._scaling.start()
        scaling = asyncio.create_task(self._scale())
        watching = asyncio.create_task(self._watch())
        greeting = asyncio.create_task(self._greet(sample=sample))
        await self._stop.wait()
        greeting.cancel()
        scaling.cancel()
        await self._end()
        watching.cancel()
        if self._is_homeless:
            return 1
        return 0 if greeting.cancelled() or not greeting.done() else greeting.result()

    def _web(self) -> Child:
        socket_number = self._listener.fileno()
        serve = web_server.command(self._services.settings, socket_number)
        return self._child("web", serve, sockets=[socket_number])

    def _new_worker(self, name: str, command: Sequence[str]) -> Child:
        return self._child(name, command, pulse=self._pulse)

    def _scaler(self) -> Scaler:
        return Scaler(self._services.queues, self._services.clock, processor=Processor().busy)

    async def _scale(self) -> None:
        while not self._stop.is_set():
            await asyncio.sleep(self._services.settings.scale_every)
            await self._scaling.look()

    def _pulse(self, pid: int) -> float | None:
        return last_sign(self._services.scratch, pid)

    def _child(
        self,
        name: str,
        command: Sequence[str],
        *,
        sockets: Sequence[int] = (),
        pulse: Callable[[int], float | None] = lambda _: None,
    ) -> Child:
        log = Log(self._folder.logs / f"{name}.log")
        may_start = self._folder.is_still_ours
        return Child(
            name, command, log, self._environment, say, sockets=sockets, folder=ROOT, may_start=may_start, pulse=pulse,
            silence=self._services.settings.silence,
        )

    def _heed_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._asked_to_stop)

    def _asked_to_stop(self) -> None:
        if self._stop.is_set():
            self._hurry.set()
            return
        self._stop.set()
        grace = self._services.settings.grace
        say(f"Stopping: work in hand has {grace:g} s to finish, then it is given back. Ctrl-C again to stop at once.")

    async def _end(self) -> None:
        self._children.stop()
        limit = self._services.settings.grace + _MARGIN
        hurried, ended = asyncio.create_task(self._hurry.wait()), asyncio.create_task(self._children.ended())
        await asyncio.wait([hurried, ended], timeout=limit, return_when=FIRST_COMPLETED)
        if not ended.done():
            self._children.stop()
            await asyncio.wait([ended], timeout=_HURRIED)
        self._children.kill()
        await ended
        hurried.cancel()

    async def _watch(self) -> None:
        while True:
            if not self._folder.is_still_ours() and not self._stop.is_set():
                say(f"The data folder {self._folder.path} was moved or removed; put it back, then start again.")
                self._is_homeless = True
                self._stop.set()
            for child in self._children:
                with contextlib.suppress(OSError):  # a full disk, say: the children go on, and so do we
                    for line in child.log.complaints():
                        say(f"{child.name}: {line}")
            self._children.forget_ended()
            await asyncio.sleep(_LOOK_EVERY)

    async def _greet(self, *, sample: bool) -> int:
        """Say where the site is once it answers; 1, and stop everything, if it never does."""
        if not await self._is_ready():
            say(f"The site did not answer within {READY_WITHIN:g} s; {self._folder.logs / 'web.log'} says why.")
            self._stop.set()
            return 1
        say(f"Matinee is ready at {self.url}")
        say(self._how_to_sign_in())
        say(f"{self._where()} (logs in logs/). Ctrl-C stops it.")
        if sample:
            await self._upload_sample()
        return 0

    def _where(self) -> str:
        settings = self._services.settings
        if settings.is_local:
            return f"Everything is kept in {self._folder.path}"
        return f"Everything is kept in the {settings.storage_name}, keys and work in progress in {self._folder.path}"

    async def _is_ready(self) -> bool:
        loop = asyncio.get_running_loop()
        until = loop.time() + READY_WITHIN
        while loop.time() < until:
            if await asyncio.to_thread(_answers, f"{self.url}/health/ready"):
                return True
            await asyncio.sleep(0.1)
        return False

    def _how_to_sign_in(self) -> str:
        kept = self._folder.first_password
        if not kept.exists():
            return f"Sign in at {self.url}/login"
        return (
            f"Sign in at {self.url}/login as {first_start.ADMIN} with the password {kept.read_text().strip()} "
            f"(kept in {kept}; a new one: infra/manage --data {shlex.quote(str(self._folder.path))} "
            f"user password {first_start.ADMIN})"
        )

    async def _upload_sample(self) -> None:
        try:
            page = await asyncio.to_thread(first_start.upload_sample, self._services, self.url)
        except (OSError, MatineeError) as error:
            say(f"The sample clip could not be uploaded: {error}")
            return
        if page:
            say(f"A sample clip is being prepared; in a few seconds it plays at {page}")


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        folder = data_folder.choose(options.data, os.environ)
        folder.make()
        folder.claim()
        environment = folder.environment(os.environ)
        settings = Settings.from_environment(environment)
        listener = address.listen(options.host, options.port)
        services = open_services(settings, caller="supervisor")
        first_start.make_admin(services, folder)
        _serve_metrics(services)
        return asyncio.run(_supervise(folder, listener, services, environment, sample=not options.no_sample))
    except MatineeError as error:
        print(error, file=sys.stderr)
        return 1


def _serve_metrics(services: Services) -> None:
    """What an earlier run counted is forgotten, as after any restart. Raises Invalid if the address is taken."""
    settings = services.settings
    if not settings.metrics:
        return
    folder = metrics_folder(settings)
    for left in folder.glob("*.db"):
        left.unlink(missing_ok=True)
    if not MetricsServer(settings.metrics, folder, gauges(services)).start():
        raise Invalid(f"metrics cannot be served at {settings.metrics}: something else listens there")


async def _supervise(
    folder: DataFolder, listener: socket.socket, services: Services, environment: dict[str, str], *, sample: bool
) -> int:
    return await Supervisor(folder, listener, services, environment).run(sample=sample)


def say(sentence: str) -> None:
    """To the terminal, if there still is one: what runs does not depend on somebody listening."""
    with contextlib.suppress(OSError):
        print(sentence, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="infra/up", description="Starts a whole Matinee on this machine.")
    parser.add_argument("--data", metavar="DIR", help="where everything is kept (default: data/ in the checkout)")
    parser.add_argument("--port", metavar="N", type=_port, default=8000, help="default: 8000; 0 takes any free one")
    parser.add_argument("--host", metavar="H", default="127.0.0.1", help="default: 127.0.0.1; 0.0.0.0 for all")
    parser.add_argument("--no-sample", action="store_true", help="do not upload the sample clip to an empty site")
    return parser


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) < 65536):
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to 65535, not {text!r}")
    return int(text)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(main())
