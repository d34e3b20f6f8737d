"""Tables: entities by partition and row, changed only at the version the caller knows, in batches all or nothing."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest

from shared.errors import Conflict, Invalid, MatineeError, NotFound
from shared.tables import MAX_BATCH, Change, Tables
from tests.contract.backend import Backend
from tests.contract.making import fresh


def insert(row: str, **properties: object) -> Change:
    return Change(kind="insert", row=row, properties=properties)  # type: ignore[arg-type]


def test_an_entity_inserted_is_got(tables: Tables, table: str) -> None:
    etag = tables.insert(table, "p", "r", {"title": "one", "size": 1})
    entity = tables.get(table, "p", "r")
    assert (entity.partition, entity.row, entity.etag) == ("p", "r", etag)
    assert entity.properties == {"title": "one", "size": 1}
    assert entity.timestamp.utcoffset() == timedelta(0)
    assert type(entity.timestamp) is datetime, "of a class that is written as any other time is"


def test_of_many_inserts_exactly_one_wins(tables: Tables, table: str) -> None:
    def attempt(number: int) -> bool:
        try:
            tables.insert(table, "p", "r", {"who": number})
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(8) as racers:
        won = list(racers.map(attempt, range(16)))
    assert won.count(True) == 1
    assert tables.get(table, "p", "r").properties == {"who": won.index(True)}


def test_an_update_holds_at_the_version_given(tables: Tables, table: str) -> None:
    first = tables.insert(table, "p", "r", {"n": 1})
    second = tables.update(table, "p", "r", {"n": 2}, if_match=first)
    with pytest.raises(Conflict):
        tables.update(table, "p", "r", {"n": 3}, if_match=first)
    assert (tables.get(table, "p", "r").properties, tables.get(table, "p", "r").etag) == ({"n": 2}, second)


def test_an_update_may_take_any_version_that_exists(tables: Tables, table: str) -> None:
    with pytest.raises(NotFound):
        tables.update(table, "p", "r", {"n": 1}, if_match="*")
    tables.insert(table, "p", "r", {"n": 1})
    tables.update(table, "p", "r", {"n": 2}, if_match="*")
    assert tables.get(table, "p", "r").properties == {"n": 2}


def test_a_change_replaces_the_whole_entity(tables: Tables, table: str) -> None:
    tables.insert(table, "p", "r", {"a": 1, "b": 2})
    tables.update(table, "p", "r", {"b": 3}, if_match="*")
    assert tables.get(table, "p", "r").properties == {"b": 3}
    tables.upsert(table, "p", "r", {"c": 4})
    assert tables.get(table, "p", "r").properties == {"c": 4}


def test_an_upsert_writes_whether_it_is_there_or_not(tables: Tables, table: str) -> None:
    first = tables.upsert(table, "p", "r", {"n": 1})
    second = tables.upsert(table, "p", "r", {"n": 2})
    assert first != second
    assert tables.get(table, "p", "r").etag == second


def test_the_etag_is_new_even_if_nothing_differs(tables: Tables, table: str) -> None:
    first = tables.insert(table, "p", "r", {"n": 1})
    assert tables.update(table, "p", "r", {"n": 1}, if_match=first) != first


def test_a_delete_holds_at_the_version_given(tables: Tables, table: str) -> None:
    stale = tables.insert(table, "p", "r", {})
    current = tables.upsert(table, "p", "r", {})
    with pytest.raises(Conflict):
        tables.delete(table, "p", "r", if_match=stale)
    tables.delete(table, "p", "r", if_match=current)
    with pytest.raises(NotFound):
        tables.get(table, "p", "r")
    with pytest.raises(NotFound):
        tables.delete(table, "p", "r")


def test_the_timestamp_moves_with_a_change(backend: Backend, tables: Tables, table: str) -> None:
    tables.insert(table, "p", "r", {})
    before = tables.get(table, "p", "r").timestamp
    backend.wait(1)
    tables.upsert(table, "p", "r", {})
    assert tables.get(table, "p", "r").timestamp > before


def test_of_many_compare_and_swaps_none_is_lost(tables: Tables, table: str) -> None:
    tables.insert(table, "p", "counter", {"n": 0})

    def add_one(_: int) -> None:
        while True:
            entity = tables.get(table, "p", "counter")
            try:
                tables.update(table, "p", "counter", {"n": int(str(entity.properties["n"])) + 1}, if_match=entity.etag)
            except Conflict:
                continue
            return

    with ThreadPoolExecutor(4) as racers:
        list(racers.map(add_one, range(40)))
    assert tables.get(table, "p", "counter").properties == {"n": 40}


def test_a_batch_changes_all_and_gives_the_etags_in_order(tables: Tables, table: str) -> None:
    for row in ("update", "delete"):
        tables.insert(table, "p", row, {"n": 0})
    etags = tables.batch(
        table,
        "p",
        [
            insert("insert", n=1),
            Change(kind="update", row="update", properties={"n": 2}),
            Change(kind="upsert", row="upsert", properties={"n": 3}),
            Change(kind="delete", row="delete"),
        ],
    )
    rows = tables.query(table, "p").entities
    assert {row.row: row.properties["n"] for row in rows} == {"insert": 1, "update": 2, "upsert": 3}
    assert etags == [tables.get(table, "p", row).etag for row in ("insert", "update", "upsert")] + [None]


@pytest.mark.parametrize(
    ("change", "failure"),
    [
        (Change(kind="insert", row="there", properties={}), Conflict),
        (Change(kind="update", row="there", properties={}, if_match="stale"), Conflict),
        (Change(kind="update", row="missing", properties={}), NotFound),
        (Change(kind="delete", row="there", if_match="stale"), Conflict),
        (Change(kind="delete", row="missing"), NotFound),
        (Change(kind="upsert", row="x", properties={"n": 2**63}), Invalid),
    ],
)
def test_a_batch_is_all_or_nothing(tables: Tables, table: str, change: Change, failure: type[MatineeError]) -> None:
    tables.insert(table, "p", "there", {"n": 0})
    with pytest.raises(failure):
        tables.batch(table, "p", [insert("first"), change, insert("last")])
    assert [entity.row for entity in tables.query(table, "p").entities] == ["there"]


def test_a_batch_holds_1_to_100_changes(tables: Tables, table: str) -> None:
    changes = [insert(f"{number:03}") for number in range(MAX_BATCH + 1)]
    for refused in ([], changes):
        with pytest.raises(Invalid):
            tables.batch(table, "p", refused)
    assert len(tables.batch(table, "p", changes[:MAX_BATCH])) == MAX_BATCH
    assert len(tables.query(table, "p").entities) == MAX_BATCH


def test_a_batch_changes_each_row_once_at_most(tables: Tables, table: str) -> None:
    with pytest.raises(Invalid):
        tables.batch(table, "p", [insert("r"), Change(kind="delete", row="r")])


def test_a_table_is_created_listed_and_deleted(tables: Tables) -> None:
    name = fresh("t")
    tables.create_table(name)
    tables.insert(name, "p", "r", {})
    with pytest.raises(Conflict):
        tables.create_table(name)
    tables.ensure_table(name)
    assert name in tables.list_tables()
    assert tables.get(name, "p", "r").row == "r"
    tables.delete_table(name)
    assert name not in tables.list_tables()
    with pytest.raises(NotFound):
        tables.get(name, "p", "r")


def test_ensuring_a_table_that_is_missing_creates_it(tables: Tables) -> None:
    name = fresh("t")
    tables.ensure_table(name)
    assert name in tables.list_tables()


def test_table_names_do_not_differ_by_case_alone(tables: Tables, table: str) -> None:
    with pytest.raises(Conflict):
        tables.create_table(table.upper())


def test_a_missing_table_is_not_found(tables: Tables) -> None:
    missing = fresh("t")
    for act in (
        lambda: tables.get(missing, "p", "r"),
        lambda: tables.insert(missing, "p", "r", {}),
        lambda: tables.upsert(missing, "p", "r", {}),
        lambda: tables.update(missing, "p", "r", {}, if_match="*"),
        lambda: tables.delete(missing, "p", "r"),
        lambda: tables.batch(missing, "p", [insert("r")]),
        lambda: tables.query(missing, "p"),
        lambda: tables.delete_table(missing),
    ):
        with pytest.raises(NotFound):
            act()


@pytest.mark.parametrize("name", ["ab", "x" * 64, "1st", "two-words", "a_b", "täble", ""])
def test_an_impossible_table_name_is_refused(tables: Tables, name: str) -> None:
    for act in (tables.create_table, tables.ensure_table):
        with pytest.raises(Invalid):
            act(name)
