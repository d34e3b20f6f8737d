"""Every setting, documented once; the only reader of the environment. A bad value is refused at start by name."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from shared.bill import Prices
from shared.errors import Invalid
from shared.metrics import parse_address

PREFIX = "MATINEE_"


def _setting(default: Any, help_text: str, *, secret: bool = False) -> Any:
    return field(default=default, metadata={"help": help_text}, repr=not secret)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Each field is the environment variable MATINEE_<NAME>; its help text is the README's settings table."""

    storage: str = _setting(
        "local:data",
        "where everything is kept: `local:PATH` (files and SQLite), or an Azure Storage account: its connection "
        "string, or `https://ACCOUNT.blob.core.windows.net` with the machine's own identity",
        secret=True,
    )
    scratch: str = _setting(
        "",
        "folder for work in progress; empty means `scratch/` in the data folder, or the machine's place for such files",
    )
    redirect_media: bool = _setting(
        False, "whether segments and pictures come from the storage account itself, by links signed for the viewer"
    )
    link_life: float = _setting(3600.0, "seconds a signed link is good for, to send blocks or to fetch media")
    pools: str = _setting("", "another file than `infra/pools.toml` that says which worker pools there are")
    scale_every: float = _setting(10.0, "seconds between looks at the queues by what scales the pools")
    secret_key: str = _setting(
        "", "signs sessions and links; `infra/up` makes one and keeps it in the data folder", secret=True
    )
    site_name: str = _setting("Matinee", "the name in the top bar and the page titles")
    sign_up: bool = _setting(True, "whether strangers may make an account")
    secure_cookies: bool = _setting(False, "cookies only over https; turn on behind TLS")
    max_upload: int = _setting(50 * 1024**3, "bytes of the largest upload accepted")
    block_size: int = _setting(8 * 1024**2, "bytes of an upload block; grows for files past 50,000 blocks")
    min_free: int = _setting(256 * 1024**2, "bytes kept free on the disk: below it uploads are refused and work waits")
    lease: float = _setting(30.0, "seconds a taken ticket stays invisible; renewed at a third of it")
    max_tries: int = _setting(5, "counted deliveries of a ticket before it is set aside as poison")
    idle_min: float = _setting(0.05, "seconds an idle listener waits at least between polls")
    idle_max: float = _setting(1.0, "seconds an idle listener waits at most between polls")
    wake: str = _setting(
        "auto",
        "how workers that sleep are woken: `unix` (sockets, on one machine), `redis://HOST:PORT/DB` (between "
        "machines), `off` (all poll), or `auto`: `unix` where the storage is on this machine",
        secret=True,
    )
    webhook_private: str = _setting(
        "", "hosts, by commas, that webhooks may reach though their addresses are not public"
    )
    webhook_patience: float = _setting(3 * 86400.0, "seconds a webhook may fail before its subscription is disabled")
    metrics: str = _setting(
        "", "HOST:PORT at which Prometheus finds the metrics of this machine's processes; empty for nowhere"
    )
    trace: str = _setting(
        "", "where traces go: empty for nowhere, or `otlp`, to the collector that OTEL_EXPORTER_OTLP_ENDPOINT names"
    )
    silence: float = _setting(60.0, "seconds without a sign of life before `infra/up` ends a worker and starts another")
    grace: float = _setting(20.0, "seconds a draining worker has to finish before it gives its tickets back")
    sweep_every: float = _setting(60.0, "seconds between sweeps")
    stalled_after: float = _setting(120.0, "seconds without progress before a sweep sends a video's next step again")
    garbage_after: float = _setting(3600.0, "seconds an unreferenced file is kept before a sweep removes it")
    upload_life: float = _setting(7 * 86400.0, "seconds an upload may rest without a new block before it is given up")
    ffmpeg: str = _setting("", "path of ffmpeg; empty means the one in the lock file's wheel")
    ffprobe: str = _setting("", "path of ffprobe; empty means the one in the lock file's wheel")
    ffmpeg_threads: int = _setting(0, "threads per ffmpeg; 0 lets it use every core")
    max_pixels: int = _setting(8192 * 4608, "pixels in one frame of the largest picture decoded")
    queue_partitions: int = _setting(1, "physical queues behind each transcode queue, to pass a per-queue limit")
    prices: str = _setting(
        "blob-write=0.065 blob-list=0.065 blob-read=0.005 queue=0.004 table=0.00036",
        "US dollars for 10,000 storage transactions of each class, for the estimated bill; your region has its own",
    )
    log_level: str = _setting("info", "debug, info, warning or error")
    trusted_proxies: int = _setting(0, "reverse proxies in front whose X-Forwarded headers are believed")

    def __post_init__(self) -> None:
        for name, low in _AT_LEAST.items():
            if getattr(self, name) < low:
                raise Invalid(f"{PREFIX}{name.upper()} must be at least {low}, not {getattr(self, name)}")
        for setting in fields(self):
            value = getattr(self, setting.name)
            if isinstance(value, float) and not math.isfinite(value):
                raise Invalid(f"{PREFIX}{setting.name.upper()} must be a number of seconds, not {value}")
        if self.idle_max < self.idle_min:
            raise Invalid(f"{PREFIX}IDLE_MAX must not be below {PREFIX}IDLE_MIN ({self.idle_min})")
        if self.wake not in ("auto", "off", "unix") and not self.wake.startswith(("redis://", "rediss://", "unix://")):
            raise Invalid(f"{PREFIX}WAKE must be auto, off, unix or redis://HOST:PORT/DB")
        if self.metrics:
            parse_address(self.metrics)
        if self.trace not in ("", "otlp"):
            raise Invalid(f"{PREFIX}TRACE must be empty or otlp, not {self.trace!r}")
        Prices.read(self.prices)
        if self.log_level not in ("debug", "info", "warning", "error"):
            raise Invalid(f"{PREFIX}LOG_LEVEL must be debug, info, warning or error, not {self.log_level!r}")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Settings":
        """Raises Invalid naming the variable whose value cannot be used."""
        given = {}
        for setting in fields(cls):
            variable = PREFIX + setting.name.upper()
            if variable in environment:
                given[setting.name] = _read(variable, environment[variable], type(setting.default))
        return cls(**given)

    @property
    def is_local(self) -> bool:
        """Whether the storage is the embedded one, on this machine."""
        return self.storage.startswith("local:")

    @property
    def storage_name(self) -> str:
        """What may be shown of the storage: never its key."""
        if self.is_local:
            return self.storage
        named = re.search(r"(?i)(?:accountname=|https://)([a-z0-9]+)", self.storage)
        return f"Azure Storage account {named[1]}" if named else "Azure Storage"

    def local_path(self) -> Path:
        """The folder of the embedded storage. Raises Invalid if the storage is another kind."""
        scheme, _, path = self.storage.partition(":")
        if scheme != "local" or not path:
            raise Invalid(f"{PREFIX}STORAGE must look like local:PATH here; it names {self.storage_name}")
        return Path(path.removeprefix("//")).resolve()


_AT_LEAST: dict[str, float] = {
    "max_upload": 1,
    "block_size": 1024,
    "min_free": 0,
    "lease": 1,
    "link_life": 60,
    "silence": 3,
    "webhook_patience": 0,
    "max_tries": 1,
    "idle_min": 0.001,
    "scale_every": 0.1,
    "grace": 0,
    "sweep_every": 0.1,
    "stalled_after": 0,
    "garbage_after": 0,
    "upload_life": 1,
    "ffmpeg_threads": 0,
    "max_pixels": 1,
    "queue_partitions": 1,
    "trusted_proxies": 0,
}
_WORDS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


def _read(variable: str, text: str, kind: type) -> Any:
    if kind is bool:
        if text.lower() not in _WORDS:
            raise Invalid(f"{variable} must be true or false, not {text!r}")
        return _WORDS[text.lower()]
    try:
        return kind(text)
    except ValueError:
        raise Invalid(f"{variable} must be {'a whole number' if kind is int else 'a number'}, not {text!r}") from None
