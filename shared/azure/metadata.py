"""Metadata as the service keeps it, in headers, which hold only ASCII and names like variables."""

import base64
import binascii
import json
import re
from collections.abc import Mapping

from shared.blobs import MAX_METADATA_BYTES
from shared.errors import Invalid
from shared.limits import metadata_text

_PLAIN_NAME = re.compile("[a-z_][a-z0-9_]*")
_PLAIN_VALUE = re.compile("[!-~]([ -~]*[!-~])?")
_WRAPPED = "matinee_wrapped"


def to_headers(metadata: Mapping[str, str] | None) -> dict[str, str]:
    """As it is where headers can hold it, else all of it as one value. Raises Invalid past 8 KiB, as it is sent."""
    text = metadata_text(metadata)
    metadata = dict(metadata or {})
    if all(_PLAIN_NAME.fullmatch(name) and _PLAIN_VALUE.fullmatch(value) for name, value in metadata.items()):
        return metadata
    wrapped = base64.b64encode(text.encode()).decode()
    if len(wrapped) > MAX_METADATA_BYTES:
        raise Invalid(f"metadata beyond ASCII is at most {MAX_METADATA_BYTES} bytes encoded, not {len(wrapped)}")
    return {_WRAPPED: wrapped}


def from_headers(headers: Mapping[str, str] | None) -> dict[str, str]:
    found = {name.lower(): value for name, value in (headers or {}).items()}
    if _WRAPPED not in found:
        return found
    try:
        return dict(json.loads(base64.b64decode(found[_WRAPPED])))
    except (binascii.Error, ValueError):
        return found
