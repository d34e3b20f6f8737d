"""Runs a command that is told to stop (SIGTERM) as soon as its parent is gone, however the parent died.

`python leash.py PARENT COMMAND...`; the command takes this process's place. Where the system has no such signal
(anything but Linux) the command runs all the same.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(parent: int, command: list[str]) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        return  # the parent died before the signal was asked for
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
