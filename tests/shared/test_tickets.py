"""Tickets: what was ever sent can be read for ever, and what cannot be understood is refused by name."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from shared.errors import Invalid
from shared.queues import MAX_BODY_BYTES, Queues
from shared.tickets import (
    KINDS,
    PART_KINDS,
    POISON_SUFFIX,
    QUEUES,
    VERSION,
    Encode,
    Index,
    Ingest,
    Sweep,
    Ticket,
    TicketQueues,
    decode,
    encode,
)

SAMPLES = sorted(Path(__file__).with_name("samples").glob("*.json"))
MADE = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)


def an_ingest(**fields: Any) -> Ingest:
    return Ingest(**{"made": MADE, "video": "4Rk9mZQ2xLp", "generation": 1} | fields)


def changed(ticket: Ticket, **fields: object) -> str:
    return json.dumps(json.loads(encode(ticket)) | fields)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_a_ticket_once_sent_is_read_for_ever(sample: Path) -> None:
    sent = json.loads(sample.read_text())
    ticket = decode(sample.read_text())
    assert (ticket.kind, ticket.id) == (sent["kind"], sent["id"])
    again = json.loads(encode(ticket))
    assert {name: again[name] for name in sent} == sent


def test_there_is_a_sample_of_every_kind() -> None:
    kinds = {json.loads(sample.read_text())["kind"] for sample in SAMPLES}
    assert kinds == {kind.__struct_config__.tag for kind in KINDS}


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_every_ticket_goes_to_a_queue_there_is(sample: Path) -> None:
    assert decode(sample.read_text()).queue in QUEUES


def test_unknown_fields_are_ignored() -> None:
    assert decode(changed(an_ingest(), colour="blue", nested={"a": [1]})) == an_ingest()


@pytest.mark.parametrize(
    "change",
    [{"version": VERSION + 1}, {"schema": "another.ticket"}, {"kind": "paint"}, {"version": "one"}, {"generation": "x"}],
    ids=str,
)
def test_what_this_worker_does_not_know_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(Invalid):
        decode(changed(an_ingest(), **change))


@pytest.mark.parametrize("body", ["", "{", "null", "[]", "{}", "\x00\x01", "aGVsbG8=", '{"kind":"ingest"}'])
def test_what_is_no_ticket_is_refused(body: str) -> None:
    with pytest.raises(Invalid):
        decode(body)


def test_a_ticket_survives_the_wire() -> None:
    ticket = Encode(
        made=MADE, traceparent="00-a-b-01", forgiven=2, history=("why",), video="4Rk9mZQ2xLp", generation=3,
        part="ladder", priority="low", fast=False,
    )
    assert decode(encode(ticket)) == ticket


def test_the_id_is_a_function_of_what_is_asked() -> None:
    assert an_ingest().id == an_ingest(forgiven=3, history=("why",), traceparent="x").id == "ingest:4Rk9mZQ2xLp:1"
    others = {an_ingest(generation=2).id, an_ingest(video="1111111111x").id, Index(**fields_of(an_ingest())).id}
    assert len(others | {an_ingest().id}) == 4


def fields_of(ticket: Ticket) -> dict[str, Any]:
    return {name: getattr(ticket, name) for name in ("made", "video", "generation")}


def test_two_parts_of_one_video_are_two_tickets() -> None:
    ids = {Encode(**fields_of(an_ingest()), part=part).id for part in ("first", "ladder")}
    assert len(ids) == 2


@pytest.mark.parametrize("kind", PART_KINDS.values())
def test_a_fast_part_goes_with_the_ingest_tickets_others_by_priority(kind: Any) -> None:
    asked = fields_of(an_ingest()) | {"part": "first"}
    assert kind(**asked, priority="high").queue == "transcode-high"
    assert kind(**asked, priority="high", fast=True).queue == "ingest"


def test_tickets_cannot_be_changed_in_place() -> None:
    with pytest.raises(AttributeError):
        an_ingest().video = "another"  # type: ignore[misc]


def test_a_ticket_carries_ids_never_data() -> None:
    assert len(encode(an_ingest(history=("x" * 200,) * 10))) < MAX_BODY_BYTES / 10


def test_every_queue_and_its_poison_twin_can_be_made(queues: Queues) -> None:
    TicketQueues(queues).ensure()
    assert set(queues.list_queues()) == set(QUEUES) | {queue + POISON_SUFFIX for queue in QUEUES}


def test_tickets_are_sent_to_their_own_queues(queues: Queues) -> None:
    outbox = TicketQueues(queues)
    outbox.ensure()
    sweep = Sweep(made=MADE, slot="2026-12-01T09:30")
    outbox.send_all([an_ingest(), sweep])
    for ticket in (an_ingest(), sweep):
        assert [decode(message.body) for message in queues.receive(ticket.queue)] == [ticket]


def test_samples_are_the_wire_format_itself() -> None:
    for sample in SAMPLES:
        assert msgspec.json.decode(sample.read_text())["schema"] == "matinee.ticket"
