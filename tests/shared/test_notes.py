"""What a video's owner is told: the plan's notes, then the parts', each once, and what was given up by its name."""

from datetime import UTC, datetime
from typing import Any

from shared.notes import owner_notes
from shared.videos import Part, PartPlan, Plan, Video

PLAN = Plan(
    recipe=1, duration=4.0, width=640, height=360, first=("first",), notes=("the subtitles were left out",),
    parts=(
        PartPlan(name="first", kind="encode", gives="its quality 360p"),
        PartPlan(name="audio", kind="encode", gives="its sound"),
        PartPlan(name="mp4", kind="package", vital=False, gives="its file to download"),
        PartPlan(name="old", kind="encode", vital=False),
    ),
)


def a_video(**fields: Any) -> Video:
    given = {"id": "11111111111", "owner": "anna", "channel": "anna", "title": "A day out",
             "created": datetime(2026, 1, 1, tzinfo=UTC), **fields}
    return Video(**given)


def finished(name: str, *notes: str) -> Part:
    return Part(name=name, attempt="aa", result={"notes": list(notes)})


def given_up(name: str, reason: str) -> Part:
    return Part(name=name, attempt="-", failed=reason)


def told(*parts: Part, **fields: Any) -> tuple[str, ...]:
    return owner_notes(a_video(**fields), PLAN, {part.name: part for part in parts})


def test_before_there_is_a_plan_nothing_is_told() -> None:
    assert owner_notes(a_video(), None, {}) == ()


def test_the_plan_speaks_first_then_its_parts_in_its_order_and_nothing_is_told_twice() -> None:
    said = told(finished("audio", "the file ends early", "its sound is odd"), finished("first", "the file ends early"))
    assert said == ("the subtitles were left out", "the file ends early", "its sound is odd")


def test_a_part_that_tells_nothing_is_no_note() -> None:
    assert told(Part(name="first", attempt="aa", result={"renditions": []}))[1:] == ()


def test_a_part_given_up_is_told_by_what_is_lacking_and_why() -> None:
    said = told(given_up("mp4", "the disk was full"), given_up("old", "it was damaged"))
    assert said[1:] == ("its file to download could not be made: the disk was full", "it was damaged")


def test_what_the_whole_video_failed_for_is_not_told_again() -> None:
    said = told(given_up("first", "it was damaged"), given_up("mp4", "the disk was full"), reason="it was damaged")
    assert said[1:] == ("its file to download could not be made: the disk was full",)
