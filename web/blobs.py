"""Blobs by signed link, and those of public containers by their name: what a storage service would serve by itself."""

from flask import Blueprint, Response, request

from shared.errors import Forbidden, NotFound
from web.delivery import deliver
from web.site import services

blueprint = Blueprint("blobs", __name__, url_prefix="/blobs")


@blueprint.get("/<container>/<path:name>")
def read(container: str, name: str) -> Response:
    if not _is_public(container):
        _check(container, name, "read")
    return deliver(container, name, cache="private, no-cache")


@blueprint.put("/<container>/<path:name>")
def write(container: str, name: str) -> Response:
    _check(container, name, "write")
    kind = request.content_type or "application/octet-stream"
    blob = services().blobs.put(container, name, request.stream, content_type=kind)
    return Response(status=201, headers={"ETag": blob.etag})


def _is_public(container: str) -> bool:
    try:
        return services().blobs.get_container(container).access == "public"
    except NotFound:
        return False


def _check(container: str, name: str, right: str) -> None:
    if request.args.get("right") != right or not request.args.get("expires", "").isdigit():
        raise Forbidden("this link is not valid")
    # Only a store without a door of its own signs links that lead here.
    check = getattr(services().blobs, "check_signature", None)
    if check is None:
        raise NotFound("links to blobs lead to the storage service here")
    check(container, name, right, int(request.args["expires"]), request.args.get("signature", ""))
