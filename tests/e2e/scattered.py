"""The site as it runs on many machines: web and every worker a process of its own, in a folder of its own, one account."""

import os
import secrets
import signal
import subprocess
import sys
from pathlib import Path

from infra import address, web_server
from infra.pools import read_pools
from shared.settings import Settings
from tests.azurite.running import Account
from tests.infra.running import ROOT

PASSWORD = "correct horse battery staple"


class Scattered:
    """`logs` holds what each process wrote, outside of the folders they work in."""

    def __init__(self, folder: Path, account: Account, **settings: str) -> None:
        self.account = account
        self.machines = folder / "machines"
        self.logs = folder / "logs"
        self.logs.mkdir(parents=True)
        self.settings = {
            "MATINEE_STORAGE": account.connection_string,
            "MATINEE_SECRET_KEY": secrets.token_hex(32),
            "MATINEE_GRACE": "3",
            "MATINEE_IDLE_MAX": "0.3",
            **settings,
        }
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._listener = address.listen("127.0.0.1", 0)
        self.url = address.url_of(self._listener)

    def start(self) -> "Scattered":
        assert self.manage("storage", "init", "--origin", self.url).returncode == 0
        socket = self._listener.fileno()
        self._start("web", web_server.command(Settings(), socket, cores=1), sockets=[socket])
        for pool in read_pools(cores=1):
            for name, command in pool.commands():
                self._start(name, command)
        return self

    def end(self) -> None:
        """As machines are shut down; nothing outlives it."""
        for process in self._processes.values():
            process.send_signal(signal.SIGTERM)
        try:
            for name, process in self._processes.items():
                assert process.wait(20) == 0, f"{name} did not end well: {self.log(name)}"
        finally:
            for process in self._processes.values():
                process.kill()
                process.wait(10)
            self._listener.close()

    def running(self) -> dict[str, bool]:
        """Whether each process still lives; nobody starts them again."""
        return {name: process.poll() is None for name, process in self._processes.items()}

    def kill_a_child_of(self, name: str) -> None:
        pid = self._processes[name].pid
        child = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0]
        os.kill(int(child), signal.SIGKILL)

    def manage(self, *words: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        data = self.machines / "operator"
        command = [sys.executable, "-m", "infra.manage", "--data", str(data), *words]
        environment = self._environment(data)
        return subprocess.run(
            command, cwd=data, env=environment, input=stdin, capture_output=True, text=True, timeout=60
        )

    def log(self, name: str) -> str:
        return (self.logs / f"{name}.log").read_text()

    def files(self, machine: str) -> list[Path]:
        return [path for path in (self.machines / machine).rglob("*") if path.is_file()]

    def _start(self, name: str, command: list[str], sockets: list[int] = []) -> None:  # noqa: B006 - only read
        folder = self.machines / name
        environment = self._environment(folder)
        with (self.logs / f"{name}.log").open("wb") as log:
            self._processes[name] = subprocess.Popen(
                command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT, pass_fds=sockets
            )

    def _environment(self, folder: Path) -> dict[str, str]:
        folder.mkdir(parents=True, exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("MATINEE_")}
        return {
            **kept, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(folder), "TMPDIR": str(folder),
            **self.settings,
        }  # fmt: skip
