"""A blob as an HTTP answer: ranges, conditions, and bytes that flow in pieces."""

import re

from flask import Response, request
from werkzeug.datastructures import Range
from werkzeug.http import parse_range_header

from shared.blobs import Blob
from shared.errors import Invalid, NotFound
from web.site import services

_SUFFIX = re.compile(r"bytes\s*=\s*-(\d+)", re.ASCII | re.IGNORECASE)


def deliver(container: str, name: str, *, cache: str) -> Response:
    """The blob, or the part asked for, or 304 or 416. Raises NotFound for a name that cannot be."""
    try:
        blob = services().blobs.stat(container, name)
    except Invalid:
        raise NotFound("there is no such file") from None
    response = Response(status=304) if _unchanged(blob) else _body(blob)
    response.headers["ETag"] = blob.etag
    response.headers["Cache-Control"] = "no-store" if response.status_code == 416 else cache
    response.headers["Accept-Ranges"] = "bytes"
    response.last_modified = blob.last_modified
    return response


def _unchanged(blob: Blob) -> bool:
    if request.if_none_match:
        return request.if_none_match.contains_weak(blob.etag.strip('"'))
    since = request.if_modified_since
    return since is not None and blob.last_modified <= since


def _body(blob: Blob) -> Response:
    asked = _asked(blob)
    span = (0, blob.size) if asked is None else asked.range_for_length(blob.size)
    if span is None:
        return Response(status=416, headers={"Content-Range": f"bytes */{blob.size}"})
    start, end = span
    response = Response(status=200 if asked is None else 206, content_type=blob.content_type)
    if request.method != "HEAD" and end > start:
        response.response = services().blobs.read(blob.container, blob.name, start=start, end=end, if_match=blob.etag)
    response.content_length = end - start
    if asked is not None:
        response.headers["Content-Range"] = f"bytes {start}-{end - 1}/{blob.size}"
    return response


def _suffix(blob: Blob) -> Range | None:
    """The last bytes: all there are where more are asked for, none where none are (RFC 9110, 14.1.2)."""
    last = _SUFFIX.fullmatch(request.headers.get("Range", "").strip())
    return Range("bytes", [(max(0, blob.size - int(last[1][:20])), None)]) if last else None


def _asked(blob: Blob) -> Range | None:
    """The one range asked for; several at once, or one of another version, are answered with the whole, as they may.

    A range that happens to be the whole is still answered as one: players learn from it that they may seek.
    """
    if request.method != "GET":
        return None
    asked = _suffix(blob) or parse_range_header(request.headers.get("Range"))
    condition = request.headers.get("If-Range")
    if asked is None or asked.units != "bytes" or len(asked.ranges) != 1 or (condition and condition != blob.etag):
        return None
    return asked
