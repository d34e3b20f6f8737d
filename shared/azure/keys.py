"""Keys of any Unicode as those the service takes: it forbids / \\ # ? and control characters, and % goes wrong."""

from shared.azure.escapes import Escapes
from shared.errors import Invalid

MAX_WRITTEN = 1024
_escapes = Escapes(['"', "#"], ["$", "%"], [".", "/"], [">", "?"], ["[", "\\"])

read = _escapes.read


def write(key: str) -> str:
    """Raises Invalid if it becomes longer than the service's 1 KiB."""
    written = _escapes.write(key)
    if len(written) > MAX_WRITTEN:
        raise Invalid(f"a key of these characters is too long for the storage account: {key[:40]!r}...")
    return written
