"""A site over real stores, served for a browser: its people, its films, and videos taken from state to state by hand."""

import logging
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec
from werkzeug.serving import BaseWSGIServer, make_server

from shared import videos
from shared.people import Person, hash_password
from shared.search import Document
from shared.services import Services
from shared.videos import MEDIA, Part, PartPlan, Plan, Playback, Progress, Video
from tests.frontend.film import RUNGS, SECONDS, TYPES, Film
from web.app import create_app

PASSWORD = "correct horse"
_HASH = hash_password(PASSWORD)
_PARTS = (PartPlan(name="first", kind="encode", fast=True), PartPlan(name="ladder", kind="encode"))


@dataclass
class Site:
    """`address` stays the same over a restart."""

    services: Services
    film: Film
    port: int = 0
    people: dict[str, Person] = field(default_factory=dict)
    server: BaseWSGIServer | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self.server = make_server("127.0.0.1", self.port, create_app(self.services), threaded=True)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        assert self.server
        self.server.shutdown()
        self.server.server_close()

    def person(self, name: str, role: str = "creator") -> Person:
        if name not in self.people:
            self.people[name] = self.services.people.create(name, _HASH, role=role)
        return self.people[name]

    def a_video(self, owner: str = "anna", **differs: Any) -> Video:
        """A published video of two qualities; spell out what differs. `notes` are those of its plan."""
        state, notes = differs.pop("state", "published"), differs.pop("notes", ())
        person = self.person(owner)
        video_id = videos.new_video_id()
        fields: dict[str, Any] = {
            "id": video_id, "owner": person.id, "channel": person.name, "title": "A night at sea",
            "created": datetime.now(UTC), "source": f"{video_id}/g1", "state": "uploading",
            "filename": "sea.mp4", "size": 1_234_567,
        }
        video = self.services.catalog.add(Video(**{**fields, **differs}), event="opened")
        return video if state == "uploading" else self.move(video.id, state, notes=notes)

    def move(self, video_id: str, state: str, *, notes: tuple[str, ...] = (), **differs: Any) -> Video:
        """Take a video to a state as the workers would, with what belongs to it."""
        catalog = self.services.catalog
        changes: dict[str, Any] = {"state": state, **differs}
        if state in ("processing", "playable", "published"):
            plan = Plan(
                recipe=1, duration=SECONDS, width=640, height=360, parts=_PARTS, first=("first",), notes=notes
            )
            catalog.record_plan(video_id, 1, plan)
            changes |= {"duration": float(SECONDS), "width": 640, "height": 360}
        if state in ("playable", "published"):
            rungs = len(RUNGS) if state == "published" else 1
            changes |= {"playback": self._publish(video_id, rungs), "published": datetime.now(UTC)}
        video = catalog.change(video_id, lambda now: msgspec.structs.replace(now, **changes), event=state)
        if state in videos.PLAYS:
            self._enter(video)
        return video

    def progress(self, video_id: str, part: str, fraction: float) -> None:
        report = Progress(part=part, attempt="aa", fraction=fraction, at=datetime.now(UTC))
        self.services.catalog.report_progress(video_id, 1, report)

    def _publish(self, video_id: str, rungs: int) -> Playback:
        prefix = "g1/first/aa/"
        put = self.services.blobs.put
        for path in self.film.files:
            put(MEDIA, f"{video_id}/{prefix}{path.name}", path.read_bytes(), content_type=TYPES[path.suffix])
        master = f"{video_id}/g1/assemble/aa{rungs}/master.m3u8"
        board = f"{video_id}/g1/pictures/aa/storyboard.vtt"
        put(MEDIA, master, self.film.master(prefix, rungs), content_type=TYPES[".m3u8"])
        put(MEDIA, board, self.film.storyboard(prefix), content_type=TYPES[".vtt"])
        for name, (width, height, _) in zip(("first", "ladder"), RUNGS[:rungs], strict=False):
            made = {"kind": "video", "name": f"{height}p", "label": f"{height}p", "width": width, "height": height}
            self.services.catalog.record_part(video_id, 1, Part(name=name, attempt="aa", result={"renditions": [made]}))
        return Playback(
            generation=1, master=master, storyboard=board, poster=f"{video_id}/{prefix}poster.jpg",
            mp4=f"{video_id}/{prefix}video.mp4" if rungs > 1 else None,
        )

    def _enter(self, video: Video) -> None:
        self.services.index_writer.apply([
            Document(
                video=video.id, revision=video.revision, title=video.title, description=video.description,
                tags=video.tags, actors=video.actors, directors=video.directors, channel=video.channel,
                owner=video.owner, privacy=video.privacy, published=video.published or video.created,
            )
        ], [])
        self.services.finder.refresh()
