"""Keys of any Unicode as keys the service takes: there and back, in the same order, with nothing it forbids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.azure import keys
from shared.errors import Invalid

FORBIDDEN = {*"/\\#?%", *map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0))}
texts = st.text(st.characters(exclude_categories=["Cs"])) | st.text(
    st.sampled_from([*FORBIDDEN, *' !"$.>[~0z', "\ud7ff", "\ue000", "\ue001", "\uffff", "\U00010000", "\U0010ffff"])
)


def units(text: str) -> list[int]:
    raw = text.encode("utf-16-be")
    return [int.from_bytes(raw[place : place + 2], "big") for place in range(0, len(raw), 2)]


@given(texts)
def test_a_key_comes_back_as_it_was(key: str) -> None:
    assert keys.read(keys.write(key)) == key


@given(texts)
def test_nothing_forbidden_is_written(key: str) -> None:
    assert not FORBIDDEN & set(keys.write(key))


@given(texts, texts)
def test_the_order_of_code_points_is_kept_by_unit_and_by_code_point(one: str, other: str) -> None:
    written = keys.write(one), keys.write(other)
    assert (units(written[0]) < units(written[1])) == (one < other)
    assert (written[0] < written[1]) == (one < other)


def test_usual_keys_are_written_almost_as_they_are() -> None:
    assert keys.write("channel:anna-42_x") == "channel:anna-42_x"
    assert keys.write("a/b") == "a.1b"


def test_a_key_too_long_once_written_is_refused() -> None:
    with pytest.raises(Invalid, match="too long"):
        keys.write("/" * 513)
