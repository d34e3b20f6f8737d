"""Any Unicode written with the characters a service takes, in the same order, beginnings kept as beginnings.

The service sorts by UTF-16 unit, which puts U+1F600 before U+FFFD, and forbids or mangles some characters. Each of
those is written as the allowed one just below it and a digit, and that one then has a digit too: where "/" is ".1",
"." is ".0". What lies above the surrogates, and what needs them, is marked to sort in the order of code points.
"""

from collections.abc import Iterator, Sequence

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_HIGH = "\ue000"
_ASTRAL = "\ue001"
_PRIVATE = ord(_HIGH)
_CONTROLS = [*map(chr, range(0x20)), " "]
_MORE_CONTROLS = ["~", *map(chr, range(0x7F, 0xA0))]
_NO_CHARACTERS = ["\ufffd", "\ufffe", "\uffff"]
"""The last two are in no XML document."""

Group = Sequence[str]


class Escapes:
    """`groups`: each a run of neighbours in code point order, the first allowed, the others not."""

    def __init__(self, *groups: Group) -> None:
        self._written = {one: _CONTROLS[-1] + _DIGITS[number] for number, one in enumerate(_CONTROLS)}
        for group in (*groups, _MORE_CONTROLS):
            self._written.update({one: group[0] + _DIGITS[number] for number, one in enumerate(group)})
        self._high = {one: _HIGH + _NO_CHARACTERS[0] + _DIGITS[number] for number, one in enumerate(_NO_CHARACTERS)}
        self._read = {written: one for one, written in self._written.items()}
        self._marks = {written[0] for written in self._read}

    def write(self, text: str) -> str:
        return "".join(map(self._write, text))

    def read(self, text: str) -> str:
        characters = iter(text)
        return "".join(self._take(character, characters) for character in characters)

    def _write(self, character: str) -> str:
        code = ord(character)
        if code < _PRIVATE:
            return self._written.get(character, character)
        if code > 0xFFFF:
            return _ASTRAL + character
        return self._high.get(character) or _HIGH + character

    def _take(self, character: str, rest: Iterator[str]) -> str:
        if character in self._marks:
            return self._read[character + next(rest)]
        if character not in (_HIGH, _ASTRAL):
            return character
        marked = next(rest)
        if character == _HIGH and marked == _NO_CHARACTERS[0]:
            return _NO_CHARACTERS[int(next(rest))]
        return marked
