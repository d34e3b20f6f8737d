"""An entity's properties as one JSON text that keeps their types."""

import base64
import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from shared.properties import checked
from shared.tables import Value

_READERS: dict[str, Callable[[Any], Value]] = {
    "bool": bool,
    "int": int,
    "float": float,
    "str": str,
    "bytes": base64.b64decode,
    "time": datetime.fromisoformat,
}


def write(properties: Mapping[str, Value]) -> str:
    """Raises Invalid, naming the property, for what a table cannot hold."""
    return json.dumps({name: _typed(value) for name, value in checked(properties).items()})


def read(text: str) -> dict[str, Value]:
    return {name: _READERS[kind](value) for name, (kind, value) in json.loads(text).items()}


def _typed(value: Value) -> tuple[str, Any]:
    match value:
        case bool():
            return "bool", value
        case int():
            return "int", value
        case float():
            return "float", repr(value)
        case str():
            return "str", value
        case bytes():
            return "bytes", base64.b64encode(value).decode()
        case datetime():
            return "time", value.isoformat()
