"""Properties as the service keeps them, each with its type told, so that it comes back as it was."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from azure.data.tables import EdmType, EntityProperty

from shared.properties import checked
from shared.tables import Value


def write(properties: Mapping[str, Value]) -> dict[str, Any]:
    """Raises Invalid, naming the property, for what a table cannot hold."""
    return {name: _write(value) for name, value in checked(properties).items()}


def read(entity: Mapping[str, Any]) -> dict[str, Value]:
    return {name: _read(value) for name, value in entity.items() if name not in ("PartitionKey", "RowKey")}


def _write(value: Value) -> Any:
    match value:
        case bool():
            return EntityProperty(value, EdmType.BOOLEAN)
        case int():
            return EntityProperty(value, EdmType.INT64)
        case float():
            return EntityProperty(value, EdmType.DOUBLE)
        case bytes():
            return EntityProperty(value, EdmType.BINARY)
        case datetime():
            return EntityProperty(value, EdmType.DATETIME)
        case _:
            return EntityProperty(value, EdmType.STRING)


def _read(value: Any) -> Value:
    if isinstance(value, EntityProperty):
        value = value.value
        return int(value)
    if isinstance(value, datetime):
        return plain(value)
    return value  # type: ignore[no-any-return]


def plain(value: datetime) -> datetime:
    """The SDK's times are of a class of its own."""
    return datetime(
        value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond, tzinfo=UTC
    )
