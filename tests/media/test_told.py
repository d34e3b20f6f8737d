"""Whatever a file makes ffprobe say, a look ends in a plan that can be carried out, or in a sentence for the owner."""

import json
from fractions import Fraction
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.errors import Permanent
from shared.videos import Plan
from workers.media import probe as probing
from workers.media.ffmpeg import Ran
from workers.media.length import LONGEST
from workers.media.plan import make_plan
from workers.media.streams import AudioStream, VideoStream
from workers.media.told import ratio, seconds, turned, whole

ODD = st.one_of(
    st.sampled_from(
        ["N/A", "", "nan", "-nan", "inf", "-inf", "1e400", "1e308", "-1e308", "-1", "0", "0/0", "1/0", "0/1", "0:1", "1:0", "1/-1", "-1/1",
         "99999999999999999999", "1/99999999999", "99999999999/1", "2147483647", "-2147483648", "-9223372036854.775808",
         "9223372036854.775808", "90", "abc", "1.5", "00:00:nan", "::", "-1:00:00", "00:00:1e400", "unknown", "none"]
    ),
    st.integers(-(2**63), 2**63),
    st.floats(),
    st.text(max_size=8),
    st.none(),
)  # fmt: skip


def either(usual: Any) -> Any:
    """What is usual, or anything else, or nothing at all."""
    return st.one_of(st.just(usual), ODD)


def described(index: int) -> st.SearchStrategy[dict[str, Any]]:
    side = st.fixed_dictionaries({}, optional={"rotation": either(90), "dv_profile": ODD})
    tags = st.fixed_dictionaries({}, optional={"rotate": ODD, "DURATION": either("00:00:02.000000000")})
    return st.fixed_dictionaries(
        {"index": st.just(index), "codec_type": st.sampled_from(["video", "audio"]), "codec_name": either("h264")},
        optional={
            "width": either(320), "height": either(240), "channels": either(2), "sample_rate": either("48000"),
            "sample_aspect_ratio": either("1:1"), "avg_frame_rate": either("25/1"), "r_frame_rate": either("25/1"),
            "duration": either("2.0"), "start_time": either("0.0"), "bit_rate": ODD, "nb_frames": ODD, "pix_fmt": ODD,
            "color_space": ODD, "color_transfer": ODD, "field_order": ODD, "tags": tags,
            "side_data_list": st.lists(side, max_size=2),
            "disposition": st.fixed_dictionaries({}, optional={"default": either(1), "attached_pic": either(0)}),
        },
    )  # fmt: skip


FILES = st.fixed_dictionaries(
    {
        "streams": st.integers(0, 3).flatmap(lambda count: st.tuples(*map(described, range(count)))),
        "format": st.fixed_dictionaries(
            {}, optional={"format_name": either("mov"), "duration": either("2.0"), "start_time": ODD, "size": ODD}
        ),
        "frames": st.lists(
            st.fixed_dictionaries(
                {}, optional={"interlaced_frame": ODD, "side_data_list": st.lists(st.fixed_dictionaries({"rotation": ODD}))}
            ),
            max_size=2,
        ),
    }
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=FILES, measured=st.floats(0, 1e13))
def test_a_look_at_anything_ends_in_a_plan_or_a_sentence(said, measured, work, monkeypatch):
    monkeypatch.setattr(probing, "_head", lambda url: b"\x00\x00\x00\x18ftypmp42")
    monkeypatch.setattr(probing, "inspect", lambda arguments, work: json.dumps(said).encode())
    monkeypatch.setattr(probing, "run", lambda *_, **__: Ran(seconds=measured, complaints=""))
    try:
        plan = make_plan(probing.probe("http://127.0.0.1/x", work))
    except Permanent:
        return
    assert 0 <= plan.duration <= LONGEST
    stored = msgspec.json.encode(plan)
    assert msgspec.json.encode(msgspec.json.decode(stored, type=Plan)) == stored
    for part in plan.parts:
        if part.kind == "encode":
            msgspec.convert(part.detail["stream"], VideoStream if part.detail["media"] == "video" else AudioStream)
        for rung in part.detail.get("rungs", []):
            assert 2 <= rung["width"] <= 8192
            assert 2 <= rung["height"] <= 8192
            assert 5 <= rung["rate"][0] / rung["rate"][1] <= 60


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e400", "1e308", "N/A", "", None])
def test_what_is_no_time_is_none(value):
    assert seconds(value) is None


@pytest.mark.parametrize("value", ["0/0", "1/0", "0/1", "1e999999999", "25", None, "-25/1"])
def test_what_is_no_ratio_is_none(value):
    assert ratio(value, Fraction(1, 1000), Fraction(1000)) is None


def test_a_whole_number_is_one_that_can_be_used():
    assert [whole(value) for value in ("7", 7, "-7", "٧", "9" * 5000, None, "7.5", True)] == [7, 7, 0, 0, 0, 0, 0, 0]


def test_a_turn_is_by_a_right_angle():
    assert [turned([{"rotation": turn}]) for turn in (90, -90, 89, 45, 180, "nan", None, "abc")] == [True] * 3 + [False] * 5
