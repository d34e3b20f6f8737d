"""Keys and names of any Unicode as those the service takes: there and back, in order, with nothing it mangles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.azure import keys, names
from shared.errors import Invalid

CONTROLS = {*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0))}
FORBIDDEN = {keys: {*"/\\#?%"} | CONTROLS, names: {"\\", "\ufffe", "\uffff"} | CONTROLS}
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30) | st.text(
    st.sampled_from(
        [*CONTROLS, *'/\\#?% !"$.>[~0z', "\ud7ff", "\ue000", "\ue001", "\ufffd", "\uffff", "\U00010000", "\U0010ffff"]
    ),
    min_size=1,
    max_size=30,
)
both = pytest.mark.parametrize("kind", [keys, names], ids=["keys", "names"])


def units(text: str) -> list[int]:
    raw = text.encode("utf-16-be")
    return [int.from_bytes(raw[place : place + 2], "big") for place in range(0, len(raw), 2)]


@both
@given(text=texts)
def test_it_comes_back_as_it_was(kind, text: str) -> None:
    assert kind.read(kind.write(text)) == text


@both
@given(text=texts)
def test_nothing_forbidden_is_written(kind, text: str) -> None:
    assert not FORBIDDEN[kind] & set(kind.write(text))


@both
@given(one=texts, other=texts)
def test_the_order_of_code_points_is_kept_by_unit_and_by_code_point(kind, one: str, other: str) -> None:
    written = kind.write(one), kind.write(other)
    assert (units(written[0]) < units(written[1])) == (one < other)
    assert (written[0] < written[1]) == (one < other)


@given(text=texts, cut=st.integers(0, 30))
def test_the_beginning_of_a_name_is_written_as_the_beginning(text: str, cut: int) -> None:
    assert names.write(text).startswith(names.write_part(text[:cut]))


@given(texts)
def test_no_step_of_a_name_is_one_that_clients_resolve(text: str) -> None:
    assert not {".", ".."} & set(names.write(text).split("/"))


def test_usual_ones_are_written_as_they_are() -> None:
    assert keys.write("channel:anna-42_x") == "channel:anna-42_x"
    assert keys.write("a/b") == "a.1b"
    name = "5Kd3/g1/ladder/a1b2/1080p_00001.m4s"
    assert names.write(name) == name


def test_what_becomes_too_long_is_refused() -> None:
    with pytest.raises(Invalid, match="too long"):
        keys.write("/" * 513)
    with pytest.raises(Invalid, match="too long"):
        names.write("\U0001f600" * 1000)
