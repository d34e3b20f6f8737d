"""Queries: a partition's rows in code point order, by range, page by page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import Invalid, NotFound
from shared.tables import MAX_KEY_BYTES, Change, Tables, every_entity
from tests.contract.making import fresh

keys = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@given(
    rows=st.sets(keys, max_size=12),
    row_from=st.none() | keys,
    row_to=st.none() | keys,
    limit=st.integers(1, 5),
)
def test_any_range_matches_a_model(
    tables: Tables, table: str, rows: set[str], row_from: str | None, row_to: str | None, limit: int
) -> None:
    partition = fresh("p")
    if rows:
        tables.batch(table, partition, [Change(kind="insert", row=row, properties={}) for row in rows])
    found = list(every_entity(tables, table, partition, row_from=row_from, row_to=row_to, limit=limit))
    expected = sorted(row for row in rows if (row_from or "") <= row and (row_to is None or row < row_to))
    assert [entity.row for entity in found] == expected


def test_a_page_holds_at_most_the_limit_and_the_last_has_no_marker(tables: Tables, table: str) -> None:
    for row in "abc":
        tables.insert(table, "p", row, {})
    first = tables.query(table, "p", limit=2)
    assert [entity.row for entity in first.entities] == ["a", "b"]
    assert first.marker is not None
    last = tables.query(table, "p", limit=2, marker=first.marker)
    assert [entity.row for entity in last.entities] == ["c"]
    assert last.marker is None


def test_paging_goes_on_after_its_place_was_deleted(tables: Tables, table: str) -> None:
    for row in "abcd":
        tables.insert(table, "p", row, {})
    marker = tables.query(table, "p", limit=2).marker
    for row in "abc":
        tables.delete(table, "p", row)
    assert [entity.row for entity in tables.query(table, "p", marker=marker).entities] == ["d"]


def test_a_partition_does_not_show_anothers_rows(tables: Tables, table: str) -> None:
    for partition in ("p", "pp", "q", "P"):
        tables.insert(table, partition, "r", {"of": partition})
    assert [entity.properties["of"] for entity in tables.query(table, "p").entities] == ["p"]


def test_an_empty_partition_is_an_empty_page(tables: Tables, table: str) -> None:
    page = tables.query(table, "nobody")
    assert (page.entities, page.marker) == ((), None)


def test_no_partition_walks_the_whole_table_in_key_order(tables: Tables) -> None:
    table = fresh("t")
    tables.create_table(table)
    expected = sorted((partition, row) for partition in ("b", "a", "c") for row in ("2", "1", "3"))
    for partition, row in reversed(expected):
        tables.insert(table, partition, row, {})
    for limit in (1, 2, 4, 1000):
        found = list(every_entity(tables, table, None, limit=limit))
        assert [(entity.partition, entity.row) for entity in found] == expected


@pytest.mark.parametrize("limit", [0, -1, 1001])
def test_an_impossible_limit_is_refused(tables: Tables, table: str, limit: int) -> None:
    with pytest.raises(Invalid):
        tables.query(table, "p", limit=limit)


@given(partition=keys, row=keys)
def test_keys_hold_any_unicode(tables: Tables, table: str, partition: str, row: str) -> None:
    tables.upsert(table, partition, row, {"n": 1})
    assert tables.get(table, partition, row).properties == {"n": 1}
    assert row in [entity.row for entity in tables.query(table, partition).entities]
    tables.delete(table, partition, row)
    with pytest.raises(NotFound):
        tables.get(table, partition, row)


@pytest.mark.parametrize("key", ["a/b", "a\\b", "a#b", "a?b", "a\tb", "\x7f", "%2F", "ключ", "\U0001f600", " "])
def test_keys_that_a_service_forbids_are_kept_all_the_same(tables: Tables, table: str, key: str) -> None:
    tables.insert(table, key, key, {"n": 1})
    (entity,) = tables.query(table, key).entities
    assert (entity.partition, entity.row) == (key, key)
    tables.delete(table, key, key)


def test_a_key_has_at_most_1_024_bytes(tables: Tables, table: str) -> None:
    longest = "ü" * (MAX_KEY_BYTES // 2)
    tables.insert(table, longest, longest, {})
    assert tables.get(table, longest, longest).row == longest
    for partition, row in ((longest + "x", "r"), ("p", longest + "x"), ("\ud800", "r")):
        with pytest.raises(Invalid):
            tables.insert(table, partition, row, {})
