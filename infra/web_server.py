"""The command that serves the site: gunicorn on a socket somebody else has bound."""

import os
import sys

from shared.settings import Settings

THREADS = 16
"""A thread is held for as long as a block arrives or a segment leaves, so there are more of them than cores."""

ARENAS = 2
"""glibc's heaps: one for each thread would keep what every thread once held. With 40 blocks of 8 MiB arriving at once
a process peaks at 95 MB with two, at 143 MB without this limit."""


def workers(cores: int | None = None) -> int:
    """How many processes serve pages."""
    return min(4, max(2, cores or os.cpu_count() or 1))


def command(settings: Settings, socket: int, *, cores: int | None = None) -> list[str]:
    return [
        "env", f"MALLOC_ARENA_MAX={ARENAS}",
        sys.executable, "-m", "gunicorn", "web.wsgi:application()",
        "--bind", f"fd://{socket}",
        "--worker-class", "gthread", "--workers", str(workers(cores)), "--threads", str(THREADS),
        "--graceful-timeout", str(max(1, round(settings.grace))),
        "--keep-alive", "15",
        "--log-level", "info" if settings.log_level == "debug" else settings.log_level,
        "--no-control-socket",
    ]  # fmt: skip
