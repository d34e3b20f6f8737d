"""Facts as CloudEvents 1.0: what happened to which video, in the form other programs know."""

from datetime import datetime
from typing import Any

import msgspec

from shared.errors import Invalid

SPEC_VERSION = "1.0"
SOURCE = "matinee"
CONTENT_TYPE = "application/cloudevents+json"
Property = str | int | float | bool
_ATTRIBUTES = ("id", "type", "source", "subject", "time")


class CloudEvent(msgspec.Struct, frozen=True, kw_only=True):
    """`type` such as "video.published", `subject` the video's id, `data` what is known of it then.

    `properties` are what filters look at and actions change: extension attributes, their names lower-case letters and
    digits (CloudEvents 1.0, "Naming Conventions").
    """

    id: str
    type: str
    subject: str
    time: datetime
    source: str = SOURCE
    properties: dict[str, Property] = {}
    data: dict[str, Any] = {}

    def value(self, name: str) -> Property | None:
        """An attribute or property by name; `sys.` before it means an attribute, `user.` a property."""
        scope, _, rest = name.lower().rpartition(".")
        if scope not in ("", "sys", "user"):
            return None
        if scope != "user" and rest in _ATTRIBUTES:
            found = getattr(self, rest)
            return found.isoformat() if isinstance(found, datetime) else str(found)
        return None if scope == "sys" else self.properties.get(rest)


def encode(event: CloudEvent) -> str:
    """The JSON event format: properties stand beside the attributes."""
    fields = {
        "specversion": SPEC_VERSION,
        "id": event.id,
        "source": event.source,
        "type": event.type,
        "subject": event.subject,
        "time": event.time,
        "datacontenttype": "application/json",
        "data": event.data,
    }
    return msgspec.json.encode({**event.properties, **fields}).decode()


def decode(text: str) -> CloudEvent:
    """Raises Invalid for what is no event of version 1.0."""
    try:
        fields = msgspec.json.decode(text, type=dict[str, Any])
        if fields.pop("specversion") != SPEC_VERSION:
            raise Invalid("not a CloudEvent of version 1.0")
        fields.pop("datacontenttype", None)
        known = {name: fields.pop(name) for name in (*_ATTRIBUTES, "data") if name in fields}
        return msgspec.convert({**known, "properties": fields}, type=CloudEvent)
    except (msgspec.MsgspecError, KeyError) as error:
        raise Invalid(f"not a CloudEvent: {error}") from None


def check_name(name: str) -> str:
    """Of a property. Raises Invalid."""
    if not (name.isascii() and name.isalnum() and name == name.lower()) or name in (*_ATTRIBUTES, "data"):
        raise Invalid(f"a property's name is lower-case letters and digits, and no attribute's, not {name!r}")
    return name
