"""Filters and actions: what passes, what is unknown, what changes, and where an expression is wrong."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import Invalid
from shared.topics.cloudevents import CloudEvent, decode, encode
from shared.topics.expressions import LONGEST, read_actions, read_filter
from shared.topics.subscriptions import Filter, Subscription, passes

NOW = datetime(2030, 1, 1, tzinfo=UTC)
EVENT = CloudEvent(
    id="e1", type="video.published", subject="4Rk9mZQ2xLp", time=NOW,
    properties={"channel": "anna", "duration": 12.5, "views": 0, "public": True, "title": "100% o'Brien_x"},
)  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "type = 'video.published'", "sys.type = 'video.published'", "TYPE='video.published' and 1=1",
        "duration > 10 AND channel LIKE 'a%'", "NOT (duration <= 10)", "missing IS NULL", "channel IS NOT NULL",
        "EXISTS(channel) AND NOT EXISTS(missing)", "channel IN ('bob', 'anna')", "channel NOT IN ('bob', 'cleo')",
        "1 + 2 * 3 = 7", "(1 + 2) * 3 = 9", "10 % 4 = 2", "-views = 0", "public", "public = TRUE", "NOT FALSE",
        "channel <> 'bob' OR 1 / 0 = 1", "title LIKE '100!% o''%' ESCAPE '!'", "title LIKE '%!_x' ESCAPE '!'",
        "title NOT LIKE 'x%'", "channel LIKE '_nn_'", "channel LIKE '%'", "'a' + 'b' = 'ab'", "user.channel = 'anna'",
        "[channel] = 'anna'", "missing = 1 OR TRUE", "views = 0.0", "type LIKE 'video.%'", "time LIKE '2030-%'",
        "subject = '4Rk9mZQ2xLp' AND id = 'e1' AND source = 'matinee'", "channel != 'bob'", "2e1 = 20",
    ],
)  # fmt: skip
def test_what_is_true_passes(text: str) -> None:
    assert read_filter(text)(EVENT)


@pytest.mark.parametrize(
    "text",
    [
        "missing = 1", "NOT (missing = 1)", "missing <> 1", "missing = missing", "missing IN (1)", "missing NOT IN (1)",
        "channel NOT IN ('bob', missing)", "missing LIKE '%'", "NOT missing", "missing AND TRUE", "NULL = NULL",
        "NOT NULL", "1 / 0 = 1", "NOT (1 / 0 = 1)", "channel > 5", "NOT (channel > 5)", "public > FALSE", "channel",
        "1", "'true'", "channel + 1 = 'anna1'", "FALSE", "TRUE AND missing = 1", "sys.channel = 'anna'",
        "user.type = 'video.published'", "other.channel = 'anna'",
    ],
)  # fmt: skip
def test_what_is_false_or_unknown_does_not(text: str) -> None:
    assert not read_filter(text)(EVENT)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a =", "the end"), ("", "character 1"), ("channel == 'x'", "character 10"), ("'open", "character 1"),
        ("a = 1 b", "character 7"), ("(a = 1", "the end"), ("a IN ()", "character 7"), ("DROP TABLE videos", "DROP"),
        ("a" * (LONGEST + 1), f"{LONGEST} characters"), ("a LIKE 'x' ESCAPE 'two'", "one character"), ("a = ;", "character 5"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(text: str, said: str) -> None:
    with pytest.raises(Invalid, match=said):
        read_filter(text)


@pytest.mark.parametrize("text", ["(" * 500 + "1 = 1" + ")" * 500, "NOT " * 200 + "TRUE", "TRUE AND " * 100 + "TRUE"])
def test_depth_does_no_harm(text: str) -> None:
    assert isinstance(read_filter(text[:LONGEST] if len(text) <= LONGEST else "1 = 1")(EVENT), bool)


def test_a_pattern_made_to_be_slow_is_not() -> None:
    slow = CloudEvent(id="1", type="t", subject="s", time=NOW, properties={"text": "a" * 20_000})
    assert not read_filter(f"text LIKE '{'%a' * 100}b'")(slow)


@given(st.text(alphabet="abc%_ ", max_size=12), st.text(alphabet="abc%_", max_size=8))
def test_like_is_what_a_regular_expression_says(text: str, pattern: str) -> None:
    import re

    event = CloudEvent(id="1", type="t", subject="s", time=NOW, properties={"text": text})
    expected = "".join(".*" if c == "%" else "." if c == "_" else re.escape(c) for c in pattern)
    assert read_filter(f"text LIKE '{pattern}'")(event) == bool(re.fullmatch(expected, text, re.DOTALL))


@given(st.text(max_size=60))
def test_whatever_is_written_is_an_expression_or_refused(text: str) -> None:
    try:
        found: Any = read_filter(text)(EVENT)
    except Invalid:
        return
    assert isinstance(found, bool)


def test_actions_change_properties_one_after_another() -> None:
    changed = read_actions("SET region = 'eu'; SET twice = duration * 2; SET copy = region; REMOVE channel;")(EVENT)
    assert changed.properties["region"] == changed.properties["copy"] == "eu"
    assert changed.properties["twice"] == 25.0
    assert "channel" not in changed.properties
    assert (changed.id, changed.type) == (EVENT.id, EVENT.type)
    assert "channel" in EVENT.properties


@pytest.mark.parametrize(
    "text", ["SET type = 'x'", "SET sys.type = 'x'", "REMOVE id", "SET x", "SET a_b = 1", "channel = 1", "SET x = 1,"]
)
def test_what_cannot_be_changed_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        read_actions(text)


def test_an_event_comes_back_as_it_was() -> None:
    assert decode(encode(EVENT)) == EVENT


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"specversion": "0.3"}', '{"specversion": "1.0", "id": 5}', "null"])
def test_what_is_no_event_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        decode(text)


@pytest.mark.parametrize(
    ("matching", "passed"),
    [
        (Filter(), True), (Filter(equal={"type": "video.published", "views": 0}), True),
        (Filter(equal={"channel": "bob"}), False), (Filter(equal={"missing": ""}), False),
        (Filter(prefix={"type": "video."}), True), (Filter(prefix={"type": "rendition."}), False),
        (Filter(equal={"channel": "anna"}, prefix={"type": "video."}, sql="duration > 10"), True),
        (Filter(equal={"channel": "anna"}, prefix={"type": "video."}, sql="duration > 20"), False),
    ],
)  # fmt: skip
def test_all_of_a_filter_must_hold(matching: Filter, passed: bool) -> None:
    assert passes(Subscription(name="x", filter=matching, created=NOW))(EVENT) is passed
