"""One event to one web address: signed, to a public address that was looked up and checked, no redirect followed."""

import base64
import hashlib
import hmac
import ipaddress
import secrets
import socket
import ssl
import threading
from collections.abc import Collection
from datetime import datetime
from http.client import HTTPException
from urllib.parse import SplitResult, urlsplit

import certifi
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError

from shared.errors import Busy, Invalid
from shared.topics.cloudevents import CONTENT_TYPE, CloudEvent, encode

SECRET_PREFIX = "whsec_"
_CONNECT = 5.0
_ANSWER = 10.0
LONGEST = 20.0
"""Seconds for everything, however slowly an answer drips."""


def new_secret() -> str:
    """As Standard Webhooks writes one (standardwebhooks.com): a prefix, and 24 bytes in base64."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(24)).decode()


def signature(secret: str, event_id: str, timestamp: int, body: bytes) -> str:
    """Standard Webhooks, version 1: HMAC-SHA256 over id, time and body, so that neither can be changed or replayed."""
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = f"{event_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def check_url(url: str) -> SplitResult:
    """Raises Invalid for what is no web address."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable or parts.username or parts.password or parts.fragment:
        raise Invalid(f"a webhook's address looks like https://example.org/path, not {url!r}")
    return parts


def post(event: CloudEvent, url: str, secret: str, *, now: datetime, private: Collection[str] = ()) -> None:
    """Returns once it was taken (any 2xx). Raises Busy, saying what happened, if it was not; Invalid for the address.

    `private` names hosts that may be on a private network; any other must be public, or the operator's own network
    could be reached by whoever may make a subscription.
    """
    parts, body, stamp = check_url(url), encode(event).encode(), int(now.timestamp())
    headers = {
        "Host": parts.netloc,
        "Content-Type": CONTENT_TYPE,
        "User-Agent": "Matinee",
        "webhook-id": event.id,
        "webhook-timestamp": str(stamp),
        "webhook-signature": signature(secret, event.id, stamp, body),
    }
    address = _checked_address(parts, private)
    try:
        status = _send(parts, address, body, headers)
    except (OSError, HTTPError, HTTPException) as error:
        raise Busy(f"{parts.netloc} did not take it: {type(error).__name__}") from error
    if 300 <= status < 400:
        raise Busy(f"{parts.netloc} answered {status}; redirects are not followed")
    if not 200 <= status < 300:
        raise Busy(f"{parts.netloc} answered {status}")


def _send(parts: SplitResult, address: str, body: bytes, headers: dict[str, str]) -> int:
    """The status. Connected to the address that was checked: asked again, the name might give another."""
    connection = _connection(parts, address)
    timer = threading.Timer(LONGEST, _hang_up, [connection])
    timer.daemon = True
    timer.start()
    try:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST", path, body=body, headers=headers)
        connection.timeout = _ANSWER
        return connection.getresponse().status
    finally:
        timer.cancel()
        connection.close()


def _connection(parts: SplitResult, address: str) -> HTTPConnection:
    host = str(parts.hostname)
    if parts.scheme == "http":
        return HTTPConnection(address, parts.port or 80, timeout=_CONNECT)
    context = ssl.create_default_context(cafile=certifi.where())
    return HTTPSConnection(
        address, parts.port or 443, timeout=_CONNECT, ssl_context=context, server_hostname=host, assert_hostname=host
    )


def _hang_up(connection: HTTPConnection) -> None:
    held = connection.sock
    if held is not None:
        try:
            held.shutdown(socket.SHUT_RDWR)
        except OSError:  # it is over already
            return


def _checked_address(parts: SplitResult, private: Collection[str]) -> str:
    """One the name stands for. Raises Busy if it stands for none now, or for one that is not public."""
    host = str(parts.hostname)
    try:
        found = socket.getaddrinfo(host, parts.port or parts.scheme, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Busy(f"{host} could not be found: {error}") from error
    addresses = [str(entry[4][0]) for entry in found]
    if host not in private and not all(map(_is_public, addresses)):
        raise Busy(f"{host} is not a public address; MATINEE_WEBHOOK_PRIVATE names those that may be private")
    return addresses[0]


def _is_public(address: str) -> bool:
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    return found.is_global and not found.is_multicast
