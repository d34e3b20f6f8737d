"""Who may see and change a video: the one place every route asks. What one may not see does not exist for them."""

from shared.errors import Forbidden, NotFound
from shared.people import Person
from shared.videos import Video
from web.identity import asking, needed
from web.site import services


def find(video_id: str) -> Video:
    """The video, if whoever asks may see it; NotFound otherwise, so that nobody learns what is private."""
    video = services().catalog.get(video_id)
    # Who asks is looked up only where it matters: what anybody may see is then the same for every cache, and a segment
    # costs no look at accounts.
    if not is_open(video) and not may_see(video, asking()):
        raise NotFound(f"there is no video {video_id}")
    return video


def find_to_change(video_id: str) -> Video:
    """Raises NotFound for what the person cannot see, Forbidden for what they see but do not own."""
    person = needed()
    video = find(video_id)
    if not may_change(video, person):
        raise Forbidden("only its owner can change this video")
    return video


def may_see(video: Video, person: Person | None) -> bool:
    """Public and unlisted ones anybody, by their address; private ones their owner and operators."""
    return is_open(video) or (video.state != "deleted" and may_change(video, person))


def is_open(video: Video) -> bool:
    """Whether anybody who has its address may see it."""
    return video.state != "deleted" and video.privacy != "private"


def may_change(video: Video, person: Person | None) -> bool:
    return owns(video, person) or (person is not None and person.active and person.may("operator"))


def owns(video: Video, person: Person | None) -> bool:
    return person is not None and person.active and video.owner == person.id


def is_listed(video: Video, person: Person | None) -> bool:
    """Whether it may appear in lists and search results shown to this person."""
    return may_see(video, person) and (video.privacy == "public" or may_change(video, person))
