"""Pages by number, as links give them."""

from shared.errors import NotFound

_LAST = 1000


def number(text: str, most: int) -> int | None:
    """1 to `most` in plain digits; None for anything else."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        return None
    return int(text) if 1 <= int(text) <= most else None


def page_number(text: str | None) -> int:
    """1 without one. Raises NotFound for what is no page."""
    if not text:
        return 1
    page = number(text, _LAST)
    if page is None:
        raise NotFound("there is no such page")
    return page
