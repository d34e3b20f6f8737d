"""What a site's first start adds: an operator to sign in as, and one clip to watch."""

import base64
import contextlib
import hashlib
import json
import secrets
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from infra.data_folder import DataFolder, write_once
from infra.prepare.places import SAMPLE
from shared.errors import Conflict, NotFound
from shared.people import Person, hash_password
from shared.services import Services

ADMIN = "admin"
_CLIP = {
    "title": "Big Buck Bunny (a sample)",
    "description": "Five seconds of Big Buck Bunny, copyright 2008 Blender Foundation, www.bigbuckbunny.org. "
    "Licence: Creative Commons Attribution 3.0, https://creativecommons.org/licenses/by/3.0/",
    "tags": ["sample", "animation", "rabbit"],
    "actors": ["Big Buck Bunny"],
    "directors": ["Sacha Goedegebure"],
    "language": "en",
    "privacy": "public",
}
_SECONDS = 10.0


def make_admin(services: Services, folder: DataFolder) -> bool:
    """An admin with a made-up password kept in the data folder, unless there is anybody already; whether it did.

    The password is written first, and an account is made with what is written: a crash in between locks nobody out.
    """
    if next(services.people.all(), None) is not None:
        return False
    write_once(folder.first_password, secrets.token_urlsafe(12))
    with contextlib.suppress(Conflict):
        services.people.create(ADMIN, hash_password(folder.first_password.read_text().strip()), role="admin")
    return True


def upload_sample(services: Services, url: str) -> str | None:
    """Send the clip in through the front door, as any program would; its page, or None where there are videos."""
    owner = _owner(services)
    if owner is None or not SAMPLE.is_file() or next(services.catalog.all(), None) is not None:
        return None
    token = services.people.create_token(owner.id, "sample clip")
    try:
        return _upload(url, token, SAMPLE)
    finally:
        [mine] = [found for found in services.people.tokens(owner.id) if found.label == "sample clip"][:1]
        services.people.revoke_token(owner.id, mine.id)


def _owner(services: Services) -> Person | None:
    try:
        return services.people.by_name(ADMIN)
    except NotFound:
        return next((person for person in services.people.all() if person.may("creator")), None)


def _upload(url: str, token: str, clip: Path) -> str:
    data = clip.read_bytes()
    about = {**_CLIP, "filename": clip.name, "size": len(data), "content_type": "video/mp4"}
    opened = _call("POST", f"{url}/api/v1/uploads", token, json.dumps(about).encode())
    pieces = [data[at : at + opened["block_size"]] for at in range(0, len(data), opened["block_size"])]
    ids = [base64.urlsafe_b64encode(f"{number:06d}".encode()).decode() for number in range(len(pieces))]
    for block_id, piece in zip(ids, pieces, strict=True):
        _put_block(url, opened, block_id, token, piece)
    commit = f"{url}/api/v1/uploads/{opened['video_id']}/commit"
    _call("POST", commit, token, json.dumps({"blocks": ids}).encode())
    return f"{url}/watch/{opened['video_id']}"


def _put_block(url: str, opened: dict[str, Any], block_id: str, token: str, piece: bytes) -> None:
    target = urljoin(url, opened["block_url"].replace("{block_id}", block_id))
    checksum = base64.b64encode(hashlib.md5(piece, usedforsecurity=False).digest()).decode()
    headers = {**opened["block_headers"], "Content-MD5": checksum}
    # Blocks may be pointed at another host, which must never see our token.
    _call("PUT", target, token if target.startswith(url) else None, piece, headers)


def _call(method: str, url: str, token: str | None, body: bytes, headers: dict[str, str] | None = None) -> Any:
    request = urllib.request.Request(url, body, {"Content-Type": "application/json", **(headers or {})}, method=method)
    if token is not None:
        request.add_header("Authorization", f"Bearer {token}")
    with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
        text = answer.read()
    return json.loads(text) if text else {}
