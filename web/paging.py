"""Pages by number, as links give them."""

from shared.errors import NotFound

_LAST = 1000


def page_number(text: str | None) -> int:
    """1 without one. Raises NotFound for what is no page."""
    if not text:
        return 1
    if not text.isdigit() or not 1 <= int(text) <= _LAST:
        raise NotFound("there is no such page")
    return int(text)
