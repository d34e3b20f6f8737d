"""Values: every type comes back as itself, and what a service could not hold is refused."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import Invalid
from shared.tables import MAX_ENTITY_BYTES, MAX_PROPERTIES, Tables, Value
from tests.contract.backend import Backend

names = st.text("aB_9", min_size=1, max_size=6).filter(lambda name: name[0] != "9")
values = (
    st.text(st.characters(exclude_categories=["Cs"]), max_size=50)
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.booleans()
    | st.binary(max_size=50)
    | st.datetimes(datetime(1700, 1, 1), datetime(9000, 1, 1), timezones=st.just(UTC))
)


@given(properties=st.dictionaries(names, values, max_size=8))
def test_any_properties_come_back_as_they_were(tables: Tables, table: str, properties: dict[str, Value]) -> None:
    tables.upsert(table, "p", "r", properties)
    kept = tables.get(table, "p", "r").properties
    assert kept == properties
    assert {name: type(value) for name, value in kept.items()} == {n: type(v) for n, v in properties.items()}


@pytest.mark.parametrize("value", [True, 1, 1.0, "1", b"1", 0, False, 0.0, "", b"", -0.0, float("inf"), 2**53 + 1])
def test_values_that_look_alike_keep_their_types(tables: Tables, table: str, value: Value) -> None:
    tables.upsert(table, "p", "r", {"v": value})
    kept = tables.get(table, "p", "r").properties["v"]
    assert (kept, type(kept)) == (value, type(value))


def test_a_time_of_any_zone_comes_back_in_utc(tables: Tables, table: str) -> None:
    noon = datetime(2030, 1, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    tables.upsert(table, "p", "r", {"at": noon})
    kept = tables.get(table, "p", "r").properties["at"]
    assert type(kept) is datetime
    assert kept == noon
    assert kept.utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    "value",
    [2**63, -(2**63) - 1, "x" * (32 * 1024 + 1), "\U0001f600" * (16 * 1024 + 1), b"x" * (64 * 1024 + 1),
     "\ud800", datetime(2030, 1, 1), None, [1], {"a": 1}],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_a_table_cannot_hold_is_refused(tables: Tables, table: str, value: object) -> None:
    with pytest.raises(Invalid):
        tables.upsert(table, "p", "refused", {"v": value})  # type: ignore[dict-item]
    assert tables.query(table, "p", row_from="refused", row_to="refused~").entities == ()


@pytest.mark.parametrize("value", ["x" * 32 * 1024, "\U0001f600" * 16 * 1024, b"x" * 64 * 1024])
def test_values_on_the_limit_fit(tables: Tables, table: str, value: Value) -> None:
    tables.upsert(table, "p", "r", {"v": value})
    assert tables.get(table, "p", "r").properties == {"v": value}


@pytest.mark.parametrize("name", ["", "1st", "a-b", "a b", "x" * 256, "PartitionKey", "RowKey", "Timestamp"])
def test_a_name_no_property_can_have_is_refused(tables: Tables, table: str, name: str) -> None:
    with pytest.raises(Invalid):
        tables.upsert(table, "p", "r", {name: 1})


def test_an_entity_has_at_most_252_properties(tables: Tables, table: str) -> None:
    most: dict[str, Value] = {f"p{number}": number for number in range(MAX_PROPERTIES)}
    tables.upsert(table, "p", "r", most)
    assert tables.get(table, "p", "r").properties == most
    with pytest.raises(Invalid):
        tables.upsert(table, "p", "r", most | {"one_more": 1})


def test_an_entity_is_at_most_1_mib(backend: Backend, tables: Tables, table: str) -> None:
    kept: dict[str, Value] = {
        f"p{number}": b"x" * 60_000 for number in range(12 if backend.entities_weigh_as_json else 17)
    }
    tables.upsert(table, "p", "r", kept)
    assert tables.get(table, "p", "r").properties == kept
    with pytest.raises(Invalid):
        tables.upsert(table, "p", "r", {f"p{number}": b"x" * 64 * 1024 for number in range(MAX_ENTITY_BYTES // 65536)})
