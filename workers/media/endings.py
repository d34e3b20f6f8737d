"""How a run of ffmpeg or ffprobe ended badly, and whose doing it was: the file's, the machine's or the program's."""

import signal

from shared.errors import Busy, MatineeError, Permanent

TOO_MUCH_WORK = "the file takes far more work than its length explains; it was given up"


class Failed(Exception):
    """It gave up on its input. `text` is the end of what it wrote."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"exit {code}: {text[-500:]}")
        self.code = code
        self.text = text


class Broken(Exception):
    """The program itself broke, or is not fit for the work. A try that counts: whose doing it is nobody can tell."""


_UNFIT = ("Unknown encoder", "No such filter", "Unrecognized option", "Option not found")


def failure(code: int, text: str) -> MatineeError | Failed | Broken:
    """What to raise for an exit code other than 0 (negative: ended by that signal)."""
    if code in (-signal.SIGXCPU, -signal.SIGXFSZ):
        return Permanent(TOO_MUCH_WORK)
    if code in (-signal.SIGKILL, -signal.SIGTERM) or "received signal" in text:
        return Busy("ffmpeg was ended from outside")
    if code < 0:
        return Broken(f"ffmpeg was ended by {signal.Signals(-code).name}: {text[-500:]}")
    if "Cannot allocate memory" in text:
        return Busy("ffmpeg was short of memory")
    if any(mark in text for mark in _UNFIT):
        return Broken(f"this ffmpeg cannot do the work: {text[-500:]}")
    return Failed(code, text)
