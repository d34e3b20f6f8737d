"""Become another program with limits on it: `launch.py PARENT MEMORY CPU FILE NICE PROGRAM [ARGUMENT...]`.

A program of its own because limits and the death signal must be set after the fork and before the exec, where a
process with threads may not run Python. Sizes in bytes, CPU in seconds, 0 for no limit.
"""

import ctypes
import os
import resource
import signal
import sys

_PR_SET_PDEATHSIG = 1
_UNSEEN = ("MATINEE_SECRET_KEY", "MATINEE_STORAGE", "http_proxy")
"""What a program that reads hostile files has no use for; a proxy would stand between it and the loopback reader."""


def main(arguments: list[str]) -> None:
    parent, memory, cpu, file_size, nice = map(int, arguments[:5])
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("the parent has gone")
    for limit, value in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, cpu),
        (resource.RLIMIT_FSIZE, file_size),
        (resource.RLIMIT_CORE, 0),
    ):
        if value or limit == resource.RLIMIT_CORE:
            allowed = _allowed(value, resource.getrlimit(limit)[1])
            resource.setrlimit(limit, (allowed, allowed))
    if nice:
        os.nice(nice)
    for name in _UNSEEN:
        os.unsetenv(name)
    os.execv(arguments[5], arguments[5:])


def _allowed(value: int, most: int) -> int:
    """Where the machine itself is stricter, its limit stands: nobody may raise it."""
    return value if most == resource.RLIM_INFINITY else min(value, most)


if __name__ == "__main__":
    main(sys.argv[1:])
