"""How long a source may be: a few bytes can claim to last for years, and every second claimed would be made."""

from shared.errors import Permanent

LONGEST = 24 * 3600.0
_UNDOUBTED = 3600.0
_LEAST_BYTES = 0.5
"""For each second. A grey picture that never moves, at a frame every ten seconds and without any sound, takes 1.4."""
TOO_LONG = f"it is longer than the {LONGEST / 3600:.0f} hours that this site can show; cut it into several"


def refuse_too_long(duration: float, size: int) -> None:
    """Raises Permanent for what lasts too long, or claims to last longer than its `size` in bytes can hold."""
    if duration > LONGEST:
        raise Permanent(TOO_LONG)
    if size and duration > _UNDOUBTED and size < duration * _LEAST_BYTES:
        hours = f"{duration / 3600:.0f} hours"
        raise Permanent(f"it says it lasts {hours} and is far too small for that; export or upload it again")
