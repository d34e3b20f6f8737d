"""From a fact to its receivers: told once whatever dies in between, tried again, put apart, disabled after long failure."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from shared.errors import Busy
from shared.services import Services
from shared.settings import Settings
from shared.tickets import Announce, Deliver, Ticket
from shared.topics.subscriptions import AUDIT, Filter
from shared.videos import Part, Video
from tests.workers.clock import HandClock
from tests.workers.faulty import Faulty
from tests.workers.making import RESULTS, a_video, processing, sent, waiting
from tests.workers.test_webhooks import Receiver
from workers.attempt import Attempt
from workers.delivering import MOST_TRIES
from workers.handlers import announce, deliver
from workers.outcomes import RetryLater
from workers.sweep import sweep

MakeAttempt = Callable[[Ticket], Attempt]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    object.__setattr__(settings, "webhook_private", "127.0.0.1")
    return settings


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


def published(services: Services) -> Video:
    import msgspec

    video = a_video(services, state="processing")
    return services.catalog.change(
        video.id, lambda now: msgspec.structs.replace(now, state="published"), event="published"
    )


def tell(services: Services, video: Video, attempt: MakeAttempt) -> None:
    ticket = Announce(video=video.id, generation=1, made=services.clock.now())
    announce.handle(ticket, services, attempt(ticket))


def work_off(services: Services, name: str, attempt: MakeAttempt) -> object:
    ticket = Deliver(subscription=name, made=services.clock.now())
    return deliver.handle(ticket, services, attempt(ticket))


def a_webhook(services: Services, receiver: Receiver, name: str = "hook", **options: object) -> None:
    services.subscriptions.create(
        name, kind="webhook", url=receiver.url, secret="whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", **options  # type: ignore[arg-type]
    )


def audited(services: Services) -> list[str]:
    return [event.type for event in services.audit.read()]


def test_what_happens_is_announced_told_and_written_in_the_audit_log(
    services: Services, attempt: MakeAttempt
) -> None:
    video = published(services)
    assert sent(services, "events") == ["announce"]
    tell(services, video, attempt)
    assert sent(services, "events") == ["announce", "deliver"]
    assert work_off(services, AUDIT, attempt) is None
    [event] = services.audit.read(video.id)
    assert (event.type, event.subject, event.data["title"]) == ("video.published", video.id, video.title)
    assert audited(services) == ["video.published"]
    assert not services.untold.has_any(video.id)


def test_a_finished_rendition_is_a_fact_once(services: Services, attempt: MakeAttempt) -> None:
    video = processing(services)
    for name in ("aaaa0000", "bbbb0000"):
        services.catalog.record_part(video.id, 1, Part(name="first", attempt=name, result=RESULTS["first"]))
    tell(services, video, attempt)
    work_off(services, AUDIT, attempt)
    assert audited(services) == ["rendition.ready"]


def test_a_change_that_did_not_happen_is_no_fact(services: Services) -> None:
    video = published(services)
    services.catalog.change(video.id, lambda now: None, event="failed")
    assert [event.type for event in services.untold.facts(video.id)] == ["video.published"]


@pytest.mark.parametrize("store", ["queues", "tables"])
@pytest.mark.parametrize("operation", ["send", "delete", "query", "insert", "get"])
def test_whatever_is_cut_short_is_told_once_in_the_end(
    services: Services, attempt: MakeAttempt, faulty: dict[str, Faulty], clock: HandClock, store: str, operation: str
) -> None:
    for calls in range(4):
        video = published(services)
        faulty[store].lose_reply(operation, Busy("the reply was lost")) if calls % 2 else faulty[store].refuse(
            operation, Busy("busy")
        )
        for _ in range(3):
            try:
                tell(services, video, attempt)
                work_off(services, AUDIT, attempt)
            except Busy:
                continue
        faulty[store].heal()
        clock.forward(61)  # what was in hand is nobody's any more
        tell(services, video, attempt)
        work_off(services, AUDIT, attempt)
        assert [event.type for event in services.audit.read(video.id)] == ["video.published"]
        assert waiting(services, "sub-audit") == 0


def test_an_announcement_that_was_lost_is_sent_again_by_the_sweep(
    services: Services, attempt: MakeAttempt, clock: HandClock
) -> None:
    video = published(services)
    services.queues.clear("events")
    clock.forward(services.settings.stalled_after)
    sweep(services)
    assert "announce" in sent(services, "events")
    tell(services, video, attempt)
    work_off(services, AUDIT, attempt)
    assert audited(services) == ["video.published"]


def test_a_delivery_that_was_lost_is_sent_again_by_the_sweep(
    services: Services, attempt: MakeAttempt, clock: HandClock
) -> None:
    tell(services, published(services), attempt)
    services.queues.clear("events")
    clock.forward(services.settings.garbage_after)
    sweep(services)
    assert "deliver" in sent(services, "events")


def test_a_webhook_gets_what_its_filter_passes(services: Services, attempt: MakeAttempt, receiver: Receiver) -> None:
    a_webhook(services, receiver, matching=Filter(sql="type = 'video.published' AND privacy = 'public'"))
    a_webhook(services, receiver, "other", matching=Filter(equal={"channel": "bob"}))
    tell(services, published(services), attempt)
    assert work_off(services, "hook", attempt) is None
    assert work_off(services, "other", attempt) is None
    assert len(receiver.requests) == 1


def test_one_that_does_not_take_it_gets_it_later_and_no_other_waits_for_it(
    services: Services, attempt: MakeAttempt, receiver: Receiver, clock: HandClock
) -> None:
    a_webhook(services, receiver)
    receiver.status = 500
    tell(services, published(services), attempt)
    outcome = work_off(services, "hook", attempt)
    assert isinstance(outcome, RetryLater)
    assert not outcome.counted
    assert timedelta(seconds=3) < outcome.delay < timedelta(seconds=7)
    assert work_off(services, AUDIT, attempt) is None
    assert audited(services) == ["video.published"]
    assert services.subscriptions.get("hook").failing is not None
    receiver.status = 200
    clock.forward(7)
    assert work_off(services, "hook", attempt) is None
    assert services.subscriptions.get("hook").failing is None
    assert len({headers["webhook-id"] for _, headers, _ in receiver.requests}) == 1


def test_what_is_never_taken_is_put_apart_and_can_be_sent_again(
    services: Services, attempt: MakeAttempt, receiver: Receiver, clock: HandClock
) -> None:
    a_webhook(services, receiver)
    receiver.status = 400
    tell(services, published(services), attempt)
    for _ in range(MOST_TRIES):
        assert isinstance(work_off(services, "hook", attempt), RetryLater)
        clock.forward(4400)
    [dead] = services.receiver(services.subscriptions.get("hook")).dead_letters()
    assert "answered 400" in dead.reason
    receiver.status = 200
    services.receiver(services.subscriptions.get("hook")).replay()
    assert work_off(services, "hook", attempt) is None
    assert waiting(services, "sub-hook-dead") == 0


def test_one_that_fails_for_days_is_disabled_and_says_why(
    services: Services, attempt: MakeAttempt, receiver: Receiver, clock: HandClock
) -> None:
    a_webhook(services, receiver)
    receiver.status = 503
    tell(services, published(services), attempt)
    work_off(services, "hook", attempt)
    clock.forward(services.settings.webhook_patience + 1)
    work_off(services, "hook", attempt)
    disabled = services.subscriptions.get("hook").disabled
    assert "failing since" in disabled
    assert "answered 503" in disabled
    asked = len(receiver.requests)
    tell(services, published(services), attempt)
    assert work_off(services, "hook", attempt) is None
    assert len(receiver.requests) == asked


def test_two_workers_do_not_work_off_one_subscription_at_once(
    services: Services, attempt: MakeAttempt, receiver: Receiver
) -> None:
    a_webhook(services, receiver)
    tell(services, published(services), attempt)
    outcomes: list[object] = []
    real = services.audit.record

    def meanwhile(event: object) -> None:
        outcomes.append(work_off(services, AUDIT, attempt))
        real(event)  # type: ignore[arg-type]

    object.__setattr__(services.audit, "record", meanwhile)
    work_off(services, AUDIT, attempt)
    [other] = outcomes
    assert isinstance(other, RetryLater)
    assert audited(services) == ["video.published"]


def test_what_a_dead_worker_had_in_hand_is_waited_for(
    services: Services, attempt: MakeAttempt, clock: HandClock
) -> None:
    tell(services, published(services), attempt)
    services.receiver(services.subscriptions.get(AUDIT)).receive(lock=timedelta(seconds=60))
    outcome = work_off(services, AUDIT, attempt)
    assert isinstance(outcome, RetryLater)
    assert not outcome.counted
    clock.forward(61)
    assert work_off(services, AUDIT, attempt) is None
    assert audited(services) == ["video.published"]
