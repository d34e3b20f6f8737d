"""What an entity's properties may be: the limits of Azure Tables, held by every backend."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from shared.errors import Invalid
from shared.limits import encoded
from shared.tables import MAX_BYTES, MAX_ENTITY_BYTES, MAX_PROPERTIES, Value

_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]{0,254}")
_RESERVED = {"PartitionKey", "RowKey", "Timestamp"}
_MAX_TEXT_UNITS = 32 * 1024


def checked(properties: Mapping[str, Value]) -> dict[str, Value]:
    """The same with times in UTC. Raises Invalid, naming the property, for what a table cannot hold."""
    if len(properties) > MAX_PROPERTIES:
        raise Invalid(f"an entity has at most {MAX_PROPERTIES} properties, not {len(properties)}")
    for name in properties:
        if not _NAME.fullmatch(name) or name in _RESERVED:
            raise Invalid(f"{name!r} cannot name a property")
    found = {name: _checked(name, value) for name, value in properties.items()}
    if sum(_size(name, value) for name, value in found.items()) > MAX_ENTITY_BYTES:
        raise Invalid("an entity is at most 1 MiB")
    return found


def _checked(name: str, value: Value) -> Value:
    match value:
        case bool() | float():
            return value
        case int():
            return _checked_number(name, value)
        case str():
            return _checked_text(name, value)
        case bytes():
            return _checked_bytes(name, value)
        case datetime():
            return _in_utc(name, value)
        case _:
            raise Invalid(f"property {name!r} is of a type tables cannot hold: {type(value).__name__}")


def _checked_number(name: str, value: int) -> int:
    if not -(2**63) <= value < 2**63:
        raise Invalid(f"property {name!r} is not a signed 64-bit number")
    return value


def _checked_text(name: str, value: str) -> str:
    encoded(f"property {name!r}", value)
    if _units(value) > _MAX_TEXT_UNITS:
        raise Invalid(f"property {name!r} holds more than 32 Ki UTF-16 units")
    return value


def _checked_bytes(name: str, value: bytes) -> bytes:
    if len(value) > MAX_BYTES:
        raise Invalid(f"property {name!r} holds more than 64 KiB")
    return value


def _in_utc(name: str, value: datetime) -> datetime:
    if value.tzinfo is None:
        raise Invalid(f"property {name!r} is a time without a zone")
    return value.astimezone(UTC)


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _size(name: str, value: Value) -> int:
    """As the service counts: two bytes a unit of text."""
    match value:
        case str():
            size = 2 * _units(value)
        case bytes():
            size = len(value)
        case _:
            size = 8
    return size + 2 * len(name)
