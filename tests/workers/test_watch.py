"""Work nobody needs any more."""

from collections.abc import Callable

import msgspec
import pytest

from shared.errors import Busy
from shared.services import Services
from shared.tickets import Erase, Index, Ticket
from shared.videos import Video
from tests.workers.faulty import Faulty
from tests.workers.making import an_encode, processing
from workers.attempt import Attempt
from workers.lease import Held, LeaseKeeper
from workers.watch import stop_unwanted

MakeAttempt = Callable[[Ticket], Attempt]


def look(services: Services, ticket: Ticket, attempt: MakeAttempt) -> bool:
    """Whether one look stops the attempt at this ticket."""
    keeper, held = LeaseKeeper(), Held(tickets=[ticket], leases=[], attempt=attempt(ticket))
    with keeper.keeping(held):
        stop_unwanted(services, keeper)
    return held.attempt.stopped.is_set()


def change(services: Services, video: Video, **fields: object) -> None:
    services.catalog.change(video.id, lambda now: msgspec.structs.replace(now, **fields))  # type: ignore[arg-type]


@pytest.mark.parametrize("fields", [{"state": "deleted"}, {"state": "failed"}, {"generation": 2}])
def test_work_on_a_video_that_is_gone_or_begun_anew_is_stopped(
    services: Services, attempt: MakeAttempt, fields: dict[str, object]
) -> None:
    video = processing(services)
    ticket = an_encode(services, video)
    assert not look(services, ticket, attempt)
    change(services, video, **fields)
    assert look(services, ticket, attempt)


def test_a_deleted_video_is_still_erased_and_taken_from_the_index(services: Services, attempt: MakeAttempt) -> None:
    video = processing(services, state="deleted")
    for kind in (Erase, Index):
        assert not look(services, kind(video=video.id, generation=1, made=services.clock.now()), attempt)


def test_a_store_that_does_not_answer_stops_nothing(
    services: Services, attempt: MakeAttempt, faulty: dict[str, Faulty]
) -> None:
    video = processing(services)
    faulty["tables"].refuse("get", Busy("busy"))
    assert not look(services, an_encode(services, video), attempt)


def test_a_process_with_nothing_at_work_asks_nothing(services: Services) -> None:
    before = services.meter.total()
    stop_unwanted(services, LeaseKeeper())
    assert services.meter.total() == before
