"""Keys of any Unicode as keys the service takes, in the same order.

The service forbids / \\ # ? and control characters (and % goes wrong on its way), and sorts by UTF-16 unit, which puts
U+1F600 before U+FFFD. So each character it forbids is written as the allowed one just below it and a digit; that one
then needs a digit too: "/" is ".1" and "." is ".0". What lies above the surrogates, and what needs them, is
marked to sort in that order.
"""

from collections.abc import Iterator

from shared.errors import Invalid

MAX_WRITTEN = 1024
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_PRIVATE = 0xE000
_HIGH = chr(_PRIVATE)
_ASTRAL = chr(_PRIVATE + 1)


def _table() -> dict[str, str]:
    """Space stands for what is below it, every other mark for what is above it."""
    groups = [
        [*map(chr, range(0x20)), " "],
        ['"', "#"],
        ["$", "%"],
        [".", "/"],
        [">", "?"],
        ["[", "\\"],
        ["~", *map(chr, range(0x7F, 0xA0))],
    ]
    written = {}
    for group in groups:
        mark = " " if group[-1] == " " else group[0]
        written.update({character: mark + _DIGITS[number] for number, character in enumerate(group)})
    return written


_WRITTEN = _table()
_READ = {pair: character for character, pair in _WRITTEN.items()}
_MARKS = {pair[0] for pair in _READ}


def write(key: str) -> str:
    """Raises Invalid if it becomes longer than the service's 1 KiB."""
    written = "".join(map(_write, key))
    if len(written) > MAX_WRITTEN:
        raise Invalid(f"a key of these characters is too long for the storage account: {key[:40]!r}...")
    return written


def read(key: str) -> str:
    characters = iter(key)
    return "".join(_read(character, characters) for character in characters)


def _write(character: str) -> str:
    code = ord(character)
    if code < _PRIVATE:
        return _WRITTEN.get(character, character)
    return (_ASTRAL if code > 0xFFFF else _HIGH) + character


def _read(character: str, rest: Iterator[str]) -> str:
    if character in _MARKS:
        return _READ[character + next(rest)]
    return next(rest) if character in (_HIGH, _ASTRAL) else character
