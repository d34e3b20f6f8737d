"""Blobs by signed link, and those of public containers by their name: what a storage service would serve by itself."""

from flask import Blueprint, Response, request

from shared.errors import Forbidden, NotFound
from web.delivery import deliver
from web.incoming import incoming
from web.site import services

_ALONE = "default-src 'none'; sandbox"
"""What somebody uploaded may be looked at, but never runs as a page of ours."""

blueprint = Blueprint("blobs", __name__, url_prefix="/blobs")


@blueprint.get("/<container>/<whole:name>", merge_slashes=False)
def read(container: str, name: str) -> Response:
    if not _is_public(container):
        _check(container, name, "read")
    response = deliver(container, name, cache="private, no-cache")
    response.headers["Content-Security-Policy"] = _ALONE
    return response


@blueprint.put("/<container>/<whole:name>", merge_slashes=False)
def write(container: str, name: str) -> Response:
    _check(container, name, "write")
    kind = request.content_type or "application/octet-stream"
    body = incoming(most=services().settings.max_upload)
    blob = services().blobs.put(container, name, body, content_type=kind)
    return Response(status=201, headers={"ETag": blob.etag})


def _is_public(container: str) -> bool:
    try:
        return services().blobs.get_container(container).access == "public"
    except NotFound:
        return False


def _check(container: str, name: str, right: str) -> None:
    expires = request.args.get("expires", "")
    if request.args.get("right") != right or not (expires.isascii() and expires.isdecimal() and len(expires) < 20):
        raise Forbidden("this link is not valid")
    # Only a store without a door of its own signs links that lead here.
    check = getattr(services().blobs, "check_signature", None)
    if check is None:
        raise NotFound("links to blobs lead to the storage service here")
    check(container, name, right, int(expires), request.args.get("signature", ""))
