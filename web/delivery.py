"""A blob as an HTTP answer: ranges, conditions, and bytes that flow in pieces."""

from flask import Response, request
from werkzeug.http import parse_range_header

from shared.blobs import Blob
from shared.errors import Invalid, NotFound
from web.site import services


def deliver(container: str, name: str, *, cache: str) -> Response:
    """The blob, or the part asked for, or 304 or 416. Raises NotFound for a name that cannot be."""
    try:
        blob = services().blobs.stat(container, name)
    except Invalid:
        raise NotFound("there is no such file") from None
    response = Response(status=304) if _unchanged(blob) else _body(blob)
    response.headers["ETag"] = blob.etag
    response.headers["Cache-Control"] = cache
    response.headers["Accept-Ranges"] = "bytes"
    response.last_modified = blob.last_modified
    return response


def _unchanged(blob: Blob) -> bool:
    if request.if_none_match:
        return request.if_none_match.contains_weak(blob.etag.strip('"'))
    since = request.if_modified_since
    return since is not None and blob.last_modified <= since


def _body(blob: Blob) -> Response:
    span = _span(blob)
    if span is None:
        return Response(status=416, headers={"Content-Range": f"bytes */{blob.size}"})
    start, end = span
    partial = (start, end) != (0, blob.size)
    response = Response(status=206 if partial else 200, content_type=blob.content_type)
    if request.method != "HEAD" and end > start:
        response.response = services().blobs.read(blob.container, blob.name, start=start, end=end, if_match=blob.etag)
    response.content_length = end - start
    if partial:
        response.headers["Content-Range"] = f"bytes {start}-{end - 1}/{blob.size}"
    return response


def _span(blob: Blob) -> tuple[int, int] | None:
    """[start, end) of what is asked for; several ranges at once are answered with the whole, as is allowed."""
    asked = parse_range_header(request.headers.get("Range"))
    condition = request.headers.get("If-Range")
    if asked is None or asked.units != "bytes" or len(asked.ranges) != 1 or (condition and condition != blob.etag):
        return 0, blob.size
    return asked.range_for_length(blob.size)
