"""Events of a subscription, handed to its receiver: later where it cannot take one, to a person where it never does."""

import random
from contextlib import suppress
from datetime import timedelta

import msgspec
import structlog

from shared.errors import Busy, Conflict, Invalid, NotFound
from shared.services import Services
from shared.tables import Value
from shared.topics.receiver import Delivery, Receiver
from shared.topics.subscriptions import SUBSCRIPTIONS, Subscription
from workers import webhooks
from workers.attempt import Attempt
from workers.outcomes import Outcome, RetryLater

MOST_TRIES = 15
"""Of one event: with these pauses about half a day."""
_MOST = 100
"""Events worked off by one ticket, so that others get their turn."""
_WORKING = "working"
_LOOK_AGAIN = timedelta(seconds=2)
_MARGIN = 10.0
_FIRST, _LONGEST = 5.0, 3600.0


def deliver(subscription: Subscription, services: Services, attempt: Attempt) -> Outcome | None:
    """Until nothing waits. Another who works it off already is left alone; looked at again soon, for it may die."""
    if not _claim(subscription, services, attempt):
        return RetryLater(reason="another worker delivers this", delay=_LOOK_AGAIN, counted=False)
    try:
        return _work_off(subscription, services, attempt)
    finally:
        _let_go(subscription, services, attempt)


def _work_off(subscription: Subscription, services: Services, attempt: Attempt) -> Outcome | None:
    receiver = services.receiver(subscription)
    for _ in range(_MOST):
        attempt.check()
        deliveries = receiver.receive(lock=_lock(subscription, services))
        if not deliveries:
            return _rest_waits(subscription, services)
        _claim(subscription, services, attempt)
        try:
            _hand_over(subscription, deliveries[0], services)
        except (Busy, Invalid) as error:
            return _failed(subscription, receiver, deliveries[0], str(error), services)
        receiver.complete(deliveries[0])
        _note(services, subscription, failing=False)
    services.deliver(subscription.name)
    return None


def _rest_waits(subscription: Subscription, services: Services) -> Outcome | None:
    """What a worker had in hand who died is hidden for a while yet, and has no ticket but this."""
    if not services.queues.depth(subscription.queue).messages:
        return None
    return RetryLater(reason="some of it is not to be had yet", delay=_LOOK_AGAIN, counted=False)


def _lock(subscription: Subscription, services: Services) -> timedelta:
    """For how long an event in hand is nobody else's: as long as a ticket, or as its receiver may take."""
    longest = webhooks.LONGEST + _MARGIN if subscription.kind == "webhook" else 0.0
    return timedelta(seconds=max(services.settings.lease, longest))


def _hand_over(subscription: Subscription, delivery: Delivery, services: Services) -> None:
    if subscription.kind == "audit":
        services.audit.record(delivery.event)
        return
    private = [host.strip() for host in services.settings.webhook_private.split(",") if host.strip()]
    url, secret = subscription.url, subscription.secret
    webhooks.post(delivery.event, url, secret, now=services.clock.now(), private=private)


def _failed(
    subscription: Subscription, receiver: Receiver, delivery: Delivery, reason: str, services: Services
) -> Outcome | None:
    """The event is tried again later; after many tries it is put apart; after days the subscription is disabled."""
    log = structlog.get_logger().bind(subscription=subscription.name, event=delivery.event.id)
    now = _note(services, subscription, failing=True)
    if now.failing and services.clock.now() - now.failing > timedelta(seconds=services.settings.webhook_patience):
        why = f"failing since {now.failing:%Y-%m-%d %H:%M} UTC; last: {reason}"
        services.subscriptions.change(subscription.name, lambda it: msgspec.structs.replace(it, disabled=why))
        receiver.abandon(delivery)
        log.error("subscription disabled", reason=why)
        return None
    if delivery.tries >= MOST_TRIES:
        receiver.dead_letter(delivery, reason)
        log.warning("event put apart", reason=reason, tries=delivery.tries)
        return RetryLater(reason=reason, delay=timedelta(0), counted=False)
    delay = _pause(delivery.tries)
    receiver.abandon(delivery, delay=delay)
    log.info("delivered later", reason=reason, tries=delivery.tries, seconds=round(delay.total_seconds()))
    return RetryLater(reason=reason, delay=delay, counted=False)


def _pause(tries: int) -> timedelta:
    """5 s doubling with each try, an hour at most, spread by a fifth."""
    return timedelta(seconds=min(_FIRST * 2 ** min(tries - 1, 20), _LONGEST) * random.uniform(0.8, 1.2))


def _note(services: Services, subscription: Subscription, *, failing: bool) -> Subscription:
    """Since when it fails; one that works again is forgiven. Written only when that changes."""
    if subscription.kind != "webhook":
        return subscription
    moment = services.clock.now()

    def noted(now: Subscription) -> Subscription:
        if failing == (now.failing is not None):
            return now
        return msgspec.structs.replace(now, failing=moment if failing else None)

    if not failing and subscription.failing is None:
        return subscription
    return services.subscriptions.change(subscription.name, noted)


def _claim(subscription: Subscription, services: Services, attempt: Attempt) -> bool:
    """Ours for a while more, unless another has it."""
    tables, now = services.tables, services.clock.now()
    ours: dict[str, Value] = {"by": attempt.id, "until": now + _lock(subscription, services)}
    try:
        held = tables.get(SUBSCRIPTIONS, _WORKING, subscription.name)
        if held.properties["by"] != attempt.id and held.properties["until"] > now:  # type: ignore[operator]
            return False
        tables.update(SUBSCRIPTIONS, _WORKING, subscription.name, ours, if_match=held.etag)
    except NotFound:
        try:
            tables.insert(SUBSCRIPTIONS, _WORKING, subscription.name, ours)
        except Conflict:
            return False
    except Conflict:
        return False
    return True


def _let_go(subscription: Subscription, services: Services, attempt: Attempt) -> None:
    """Unless it was taken from us, who were frozen for longer than it lasted."""
    with suppress(NotFound, Conflict):
        held = services.tables.get(SUBSCRIPTIONS, _WORKING, subscription.name)
        if held.properties["by"] == attempt.id:
            services.tables.delete(SUBSCRIPTIONS, _WORKING, subscription.name, if_match=held.etag)
