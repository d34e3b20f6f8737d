"""Blob names of any Unicode as names that arrive as they are.

The service turns "\\" into "/", and clients resolve "." and ".." in a path, so dots that begin a step of it are each
followed by a mark. Usual names are kept as they are.
"""

from shared.azure.escapes import Escapes
from shared.errors import Invalid
from shared.limits import check_blob_name

_LONGEST = 1024
_DOT_MARK = "!"
_escapes = Escapes(["[", "\\"])


def write(name: str) -> str:
    """Raises Invalid for what cannot name a blob, or becomes too long."""
    check_blob_name(name)
    written = write_part(name)
    if len(written) > _LONGEST:
        raise Invalid(f"a name of these characters is too long for the storage account: {name[:40]!r}...")
    return written


def write_part(prefix: str) -> str:
    """Of a name's beginning, which becomes the beginning of what the name becomes."""
    return "/".join(map(_write_step, prefix.split("/")))


def write_delimiter(delimiter: str) -> str:
    """One stands in the middle of a step, so its dots are not marked."""
    return _escapes.write(delimiter)


def read(name: str) -> str:
    return "/".join(map(_read_step, name.split("/")))


def _write_step(step: str) -> str:
    rest = step.lstrip(".")
    return ("." + _DOT_MARK) * (len(step) - len(rest)) + _escapes.write(rest)


def _read_step(step: str) -> str:
    dots = 0
    while step.startswith("." + _DOT_MARK):
        step = step[2:]
        dots += 1
    return "." * dots + _escapes.read(step)
