"""What the contracts allow in names, keys, spans, sizes and metadata; both backends refuse the rest alike."""

import base64
import binascii
import json
import re
from collections.abc import Mapping
from datetime import timedelta

from shared.blobs import MAX_BLOCK_ID_BYTES, MAX_BLOCKS, MAX_METADATA_BYTES
from shared.errors import Invalid
from shared.queues import MAX_BATCH, MAX_BODY_BYTES
from shared.tables import MAX_KEY_BYTES

_URL_SAFE = re.compile("(?=.{3,63}$)[a-z0-9]+(-[a-z0-9]+)*")
_TABLE = re.compile("[A-Za-z][A-Za-z0-9]{2,62}")


def check_store_name(kind: str, name: str) -> None:
    """The rule that containers and queues share."""
    if not _URL_SAFE.fullmatch(name):
        raise Invalid(f"a {kind} name is 3 to 63 of a-z, 0-9 and single hyphens, not {name!r}")


def check_access(access: str) -> None:
    if access not in ("private", "public"):
        raise Invalid(f"a container is private or public, not {access!r}")


def check_blob_name(name: str) -> None:
    if not 1 <= len(name) <= 1024:
        raise Invalid(f"a blob name has 1 to 1,024 characters, not {len(name)}")
    encoded("a blob name", name)


def check_block_count(count: int) -> None:
    if count > MAX_BLOCKS:
        raise Invalid(f"a blob has at most {MAX_BLOCKS:,} blocks, not {count:,}")


def block_id_length(block_id: str) -> int:
    """Bytes the id stands for."""
    try:
        length = len(base64.b64decode(block_id, validate=True))
    except (binascii.Error, ValueError):
        raise Invalid(f"a block id is base64, not {block_id!r}") from None
    if not 1 <= length <= MAX_BLOCK_ID_BYTES:
        raise Invalid(f"a block id stands for 1 to {MAX_BLOCK_ID_BYTES} bytes, not {length}")
    return length


def check_count(count: int) -> None:
    if not 1 <= count <= MAX_BATCH:
        raise Invalid(f"1 to {MAX_BATCH} messages can be asked for at once, not {count}")


def check_span(what: str, span: timedelta, low: timedelta, high: timedelta) -> None:
    if not low <= span <= high:
        given, least, most = (f"{one.total_seconds():g} s" for one in (span, low, high))
        raise Invalid(f"a {what} is {least} to {most}, not {given}")


def check_body(body: str) -> None:
    size = len(encoded("a message body", body))
    if size > MAX_BODY_BYTES:
        raise Invalid(f"a message body is at most {MAX_BODY_BYTES} bytes of UTF-8, not {size}")


def check_table_name(name: str) -> None:
    if not _TABLE.fullmatch(name):
        raise Invalid(f"a table name is 3 to 63 letters and digits, a letter first, not {name!r}")


def check_keys(partition: str, row: str) -> None:
    for key in (partition, row):
        length = len(encoded("a key", key))
        if length > MAX_KEY_BYTES:
            raise Invalid(f"a key is at most {MAX_KEY_BYTES} bytes, not {length}")


def metadata_text(metadata: Mapping[str, str] | None) -> str:
    """As it is stored; equal metadata give equal texts."""
    metadata = metadata or {}
    size = sum(len(encoded("metadata", name)) + len(encoded("metadata", value)) for name, value in metadata.items())
    if size > MAX_METADATA_BYTES:
        raise Invalid(f"metadata is at most {MAX_METADATA_BYTES} bytes, not {size}")
    return json.dumps(dict(metadata), sort_keys=True)


def encoded(what: str, text: str) -> bytes:
    """UTF-8. Raises Invalid for text that has none (a lone surrogate)."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise Invalid(f"{what} is not valid Unicode: {text!r}") from None
