"""A request's JSON as one of our records, or a sentence that says what is wrong with it."""

from typing import TypeVar

import msgspec
from flask import request

from shared.errors import Invalid
from web.errors import TooLarge

Record = TypeVar("Record")
_MOST = 4 * 1024 * 1024


def body_as(kind: type[Record]) -> Record:
    """Raises Invalid naming the field. Fields nobody knows are ignored."""
    if (request.content_length or 0) > _MOST:
        raise TooLarge(f"a request's JSON is at most {_MOST // 1024**2} MiB")
    try:
        return msgspec.json.decode(request.get_data(), type=kind)
    except msgspec.MsgspecError as error:
        raise Invalid(f"the request is not what is expected: {error}") from error
    except UnicodeDecodeError:
        raise Invalid("the request is not UTF-8") from None
