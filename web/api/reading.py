"""A request's JSON as one of our records, or a sentence that says what is wrong with it."""

from typing import TypeVar

import msgspec
from flask import request
from werkzeug.exceptions import RequestEntityTooLarge

from shared.errors import Invalid
from web.errors import TooLarge

Record = TypeVar("Record")
_MOST = 8 * 1024 * 1024
"""Room for the longest list of blocks: 50,000 ids of 88 characters."""


def body_as(kind: type[Record]) -> Record:
    """Raises Invalid naming the field. Fields nobody knows are ignored."""
    request.max_content_length = _MOST
    try:
        return msgspec.json.decode(request.get_data(cache=False), type=kind)
    except RequestEntityTooLarge:
        raise TooLarge(f"a request's JSON is at most {_MOST // 1024**2} MiB") from None
    except msgspec.MsgspecError as error:
        raise Invalid(f"the request is not what is expected: {error}") from error
    except RecursionError:
        raise Invalid("the request's JSON is nested far too deep") from None
    except UnicodeDecodeError:
        raise Invalid("the request is not UTF-8") from None
