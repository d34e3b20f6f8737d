"""What an owner should know of a video: told to its owner and to operators, to nobody else, and never as markup."""

import msgspec
import pytest

from shared.videos import Part, PartPlan, Plan

NOTE = "its <script>high</script> dynamic range was converted"


@pytest.fixture
def noted(a_video, services):
    """A video of the second generation with a note in its plan, one of a part, and a part that was given up."""

    def make(owner, **differs):
        video = a_video(owner, generation=2, **differs)
        parts = (PartPlan(name="first", kind="encode"), PartPlan(name="mp4", kind="package", vital=False, gives="its file to download"))
        plan = Plan(recipe=1, duration=12.0, width=640, height=360, parts=parts, first=("first",), notes=(NOTE,))
        services.catalog.record_plan(video.id, 2, plan)
        services.catalog.record_part(video.id, 2, Part(name="first", attempt="aa", result={"notes": [NOTE, "the file ends early"]}))
        services.catalog.record_part(video.id, 2, Part(name="mp4", attempt="-", failed="the segments could not be joined"))
        return video

    return make


TOLD = [NOTE, "the file ends early", "its file to download could not be made: the segments could not be joined"]


@pytest.mark.parametrize(
    ("who", "role", "told"),
    [("anna", "creator", True), ("olga", "operator", True), ("adam", "admin", True), ("boris", "creator", False)],
)
def test_the_api_tells_those_who_may_change_the_video(someone, noted, services, who, role, told):
    anna = someone()
    asking = anna if who == "anna" else someone(who, role=role)
    video = noted(anna.person)
    answer = asking.client.get(f"/api/v1/videos/{video.id}", headers=asking.headers)
    assert answer.json["notes"] == (TOLD if told else [])
    [found] = asking.client.get("/api/v1/search?q=night", headers=asking.headers).json["videos"]
    assert found["notes"] == answer.json["notes"]


def test_the_api_tells_a_stranger_nothing(nobody, someone, noted):
    video = noted(someone().person)
    assert nobody.get(f"/api/v1/videos/{video.id}").json["notes"] == []


def test_the_page_it_plays_on_tells_its_owner_alone(nobody, someone, noted):
    anna, olga = someone(), someone("olga", role="operator")
    path = f"/watch/{noted(anna.person).id}"
    page = anna.client.get(path, headers=anna.headers).text
    assert "Its &lt;script&gt;high&lt;/script&gt; dynamic range was converted." in page
    assert "<script>high" not in page
    for text in (nobody.get(path).text, olga.client.get(path, headers=olga.headers).text):
        assert "dynamic range" not in text
        assert "data-notes" not in text


def test_the_studio_tells_each_once_and_offers_another_try(someone, noted):
    anna = someone()
    video = noted(anna.person)
    page = anna.client.get(f"/studio/{video.id}", headers=anna.headers).text
    for sentence in ("The file ends early.", "Its file to download could not be made: the segments could not be joined."):
        assert page.count(sentence) == 1
    assert f"/studio/{video.id}/retry" in page
    assert "dynamic range was converted" in anna.client.get("/studio", headers=anna.headers).text


def test_a_part_that_failed_the_whole_video_is_told_once(someone, noted, services):
    anna = someone()
    video = noted(anna.person)
    reason = "the segments could not be joined"
    services.catalog.change(video.id, lambda now: msgspec.structs.replace(now, state="failed", reason=reason))
    answer = anna.client.get(f"/api/v1/videos/{video.id}", headers=anna.headers)
    assert answer.json["reason"] == reason
    assert answer.json["notes"] == TOLD[:2]
