"""A site over real stores in a temporary folder, people to use it, and videos in any state."""

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from flask import Flask
from flask.testing import FlaskClient

from shared import videos
from shared.people import Person, hash_password
from shared.search import Document
from shared.services import Services, open_services
from shared.settings import Settings
from shared.videos import MEDIA, Part, PartPlan, Plan, Playback, Video
from web.app import create_app

PASSWORD = "correct horse"
_HASH = hash_password(PASSWORD)


@pytest.fixture
def backend() -> str:
    """Where the site keeps everything; a module that parametrizes it ("azure", "local") holds on both."""
    return "local"


@pytest.fixture
def services(request: pytest.FixtureRequest, tmp_path: Path, backend: str) -> Services:
    storage = f"local:{tmp_path}/data"
    if backend == "azure":
        storage = request.getfixturevalue("account").connection_string
    settings = Settings(
        storage=storage, scratch=str(tmp_path / "scratch"), secret_key="a key for tests", block_size=4096, min_free=0
    )
    return open_services(settings, caller="test")


@pytest.fixture
def app(services: Services) -> Flask:

    application = create_app(services)
    application.testing = False
    return application


@dataclass
class Someone:
    """A person with a client of their own: signed in, and a token for programs."""

    person: Person
    token: str
    client: FlaskClient
    headers: dict[str, str] = field(default_factory=dict)


@pytest.fixture
def someone(app: Flask, services: Services) -> Callable[..., Someone]:
    def make(name: str = "anna", role: str = "creator") -> Someone:
        person = services.people.create(name, _HASH, role=role)
        token = services.people.create_token(person.id, "test")
        return Someone(person, token, app.test_client(), {"Authorization": f"Bearer {token}"})

    return make


@pytest.fixture
def nobody(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def a_video(services: Services) -> Callable[..., Video]:
    """A published video with a playlist, a segment, an MP4, a poster and a storyboard; spell out what differs."""

    def make(owner: Person, *, findable: bool = True, **differs: Any) -> Video:
        video_id = videos.new_video_id()
        names = {
            "master": f"{video_id}/g1/assemble/aa/master.m3u8",
            "mp4": f"{video_id}/g1/mp4/aa/video.mp4",
            "poster": f"{video_id}/g1/pictures/aa/poster.jpg",
            "storyboard": f"{video_id}/g1/pictures/aa/storyboard.vtt",
        }
        types = {"master": "application/vnd.apple.mpegurl", "mp4": "video/mp4", "poster": "image/jpeg",
                 "storyboard": "text/vtt; charset=utf-8"}
        for kind, name in names.items():
            services.blobs.put(MEDIA, name, f"the {kind} of {video_id}".encode(), content_type=types[kind])
        services.blobs.put(MEDIA, f"{video_id}/g1/first/aa/360p_00000.m4s", b"0123456789", content_type="video/mp4")
        fields: dict[str, Any] = {
            "id": video_id, "owner": owner.id, "channel": owner.name, "state": "published", "title": "A night at sea",
            "created": datetime.now(UTC), "published": datetime.now(UTC), "duration": 12.0, "width": 640,
            "height": 360, "source": f"{video_id}/g1", "indexed": 1, "playback": Playback(generation=1, **names),
        }
        video = services.catalog.add(Video(**{**fields, **differs}), event="opened")
        _plan(services, video)
        if findable and video.state in videos.PLAYS:
            services.index_writer.apply([_document(video)], [])
            services.finder.refresh()
        return video

    return make


def _plan(services: Services, video: Video) -> None:
    services.blobs.put(videos.SOURCES, video.source, b"the original")
    plan = Plan(recipe=1, duration=12.0, width=640, height=360,
                parts=(PartPlan(name="first", kind="encode", fast=True),), first=("first",))
    services.catalog.record_plan(video.id, 1, plan)
    rendition = {"name": "360p", "kind": "video", "label": "360p", "width": 640, "height": 360, "playlist": "360p.m3u8"}
    services.catalog.record_part(video.id, 1, Part(name="first", attempt="aa", result={"renditions": [rendition]}))


def _document(video: Video) -> Document:
    return msgspec.convert(
        {
            "video": video.id, "revision": video.revision, "title": video.title, "description": video.description,
            "tags": video.tags, "actors": video.actors, "directors": video.directors, "channel": video.channel,
            "owner": video.owner, "privacy": video.privacy, "published": video.published or video.created,
        },
        Document,
    )


def token_of(page: str) -> str:
    found = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', page)
    assert found, "the form has no csrf_token"
    return found.group(1)


def send(client: FlaskClient, path: str, **fields: str) -> Any:
    """Fill the form at `path`, as a browser does, and send it."""
    return client.post(path, data={"csrf_token": token_of(client.get(path).text), **fields})


def sign_in(client: FlaskClient, name: str, password: str = PASSWORD) -> Any:
    return send(client, "/login", email=name, password=password)


class Uploading:
    """A client of the upload API, as a program would write one: it follows the template blindly."""

    def __init__(self, someone: Someone, content: bytes, **about: Any) -> None:
        self.someone = someone
        self.content = content
        self.about = {"filename": "sea.mp4", "size": len(content), "title": "A night at sea", **about}

    def open(self, **headers: str) -> Any:
        client = self.someone.client
        answer = client.post("/api/v1/uploads", json=self.about, headers={**self.someone.headers, **headers})
        if answer.status_code == 201:
            self.opened = answer.json
        return answer

    @property
    def blocks(self) -> dict[str, bytes]:
        size = self.opened["block_size"]
        pieces = [self.content[at : at + size] for at in range(0, len(self.content), size)]
        return {base64.b64encode(f"{number:06d}".encode()).decode(): piece for number, piece in enumerate(pieces)}

    def put(self, block_id: str, piece: bytes, *, md5: str | None = None) -> Any:
        digest = base64.b64encode(hashlib.md5(piece, usedforsecurity=False).digest()).decode()
        address = self.opened["block_url"].replace("{block_id}", block_id)
        headers = {**self.someone.headers, **self.opened["block_headers"], "Content-MD5": md5 or digest}
        return self.someone.client.put(address, data=piece, headers=headers)

    def put_all(self) -> None:
        for block_id, piece in self.blocks.items():
            assert self.put(block_id, piece).status_code == 201

    def commit(self, ids: list[str] | None = None) -> Any:
        body = {"blocks": list(self.blocks) if ids is None else ids}
        address = f"/api/v1/uploads/{self.opened['video_id']}/commit"
        return self.someone.client.post(address, json=body, headers=self.someone.headers)


@pytest.fixture
def uploading(someone: Callable[..., Someone]) -> Callable[..., Uploading]:
    def make(content: bytes = b"x" * 10_000, **about: Any) -> Uploading:
        return Uploading(someone(), content, **about)

    return make
