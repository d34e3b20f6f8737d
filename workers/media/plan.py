"""From one probe to a plan: which rungs, in which parts, in which order. The plan is data; making it runs nothing."""

import math
from fractions import Fraction
from typing import Any

import msgspec

from shared.videos import PartPlan, Plan
from workers.media.probe import Probe
from workers.media.streams import VideoStream

RECIPE = 1
"""Changes whenever the same source would be encoded differently."""

FIRST_HEIGHT = 360
MP4_HEIGHT = 720
HIGH_RATE_HEIGHT = 700
"""Frame rates above 30 are kept from here up: small rungs are for those who lack the bandwidth."""
_LEAST_SIDE = 48
"""Below it a rung shows nothing any more: a strip a few pixels high has no use for a smaller one."""
_AUDIO_COST = 0.1
_PIXELS = 1280 * 720
_KBITS = {2160: 20_000, 1440: 10_000, 1080: 6_000, 720: 3_000, 480: 1_400, 360: 800, 240: 450, 144: 220}
"""Most kbit/s of a rung at up to 30 frames a second, between PeerTube's and MediaCMS's ladders; x1.5 above."""
_RATES = tuple(Fraction(rate) for rate in (24, 25, 30, 50, 60)) + tuple(
    Fraction(rate * 1000, 1001) for rate in (24, 30, 60)
)


class Rung(msgspec.Struct, frozen=True, kw_only=True):
    """One video rendition: `label` by the short side of its 16:9 box; `kbits` its peak; `rate` frames a second."""

    label: str
    width: int
    height: int
    kbits: int
    rate: tuple[int, int]


def make_plan(probe: Probe) -> Plan:
    """A video becomes parts first, audio, ladder, pictures and mp4; a sound alone audio, pictures and mp4."""
    if probe.video is None:
        return _sound_plan(probe)
    rungs = ladder(probe.video)
    first = next((rung for rung in rungs if _box(rung.width, rung.height) <= FIRST_HEIGHT), rungs[-1])
    rest = [rung for rung in rungs if rung is not first]
    sound = ("audio",) if probe.audio is not None else ()
    parts = [_encode("first", _video_detail(probe, [first]), fast=True)]
    if sound:
        parts.append(_encode("audio", _audio_detail(probe), fast=True))
    if rest:
        parts.append(_encode("ladder", _video_detail(probe, rest)))
    parts.append(_pictures(probe, needs=("first",)))
    best = next((rung for rung in rungs if _box(rung.width, rung.height) <= MP4_HEIGHT), rungs[-1])
    parts.append(_package(("first" if best is first else "ladder", *sound), best.label))
    return Plan(
        recipe=RECIPE,
        duration=probe.duration,
        width=rungs[0].width,
        height=rungs[0].height,
        parts=tuple(parts),
        first=("first", *sound),
        notes=probe.notes,
    )


def _sound_plan(probe: Probe) -> Plan:
    parts = (
        _encode("audio", _audio_detail(probe), fast=True),
        _pictures(probe, needs=()),
        _package(("audio",), None),
    )
    return Plan(
        recipe=RECIPE, duration=probe.duration, width=0, height=0, parts=parts, first=("audio",), notes=probe.notes
    )


def ladder(video: VideoStream) -> list[Rung]:
    """The rungs, highest first: the source's own size, then each ladder size at least 15 % below it that still shows
    something.

    Sizes fit inside the rung's 16:9 box (9:16 for portrait), are even, and never above the source.
    """
    own = min(_box(video.width, video.height), max(_KBITS))
    rungs = [_rung(video, own, _nearest(own))]
    lower = [_rung(video, height, f"{height}p") for height in _KBITS if height <= own * 0.85]
    rungs += [rung for rung in lower if min(rung.width, rung.height) >= _LEAST_SIDE]
    named: dict[str, Rung] = {}
    for rung in rungs:
        named.setdefault(rung.label, rung)
    return list(named.values())


def frame_rate(average: tuple[int, int], height: float) -> Fraction:
    """A constant rate: the source's average, snapped when within 4 %, 5 to 60, and at most 30 below 720p."""
    rate = min(max(Fraction(*average), Fraction(5)), Fraction(60))
    near = min(_RATES, key=lambda known: abs(known - rate))
    rate = near if abs(near - rate) <= rate * Fraction(4, 100) else Fraction(round(rate))
    if height >= HIGH_RATE_HEIGHT or rate <= 30:
        return rate
    return rate / 2 if rate in _RATES else Fraction(30)


def _nearest(height: float) -> str:
    """The label of a size that is not on the ladder."""
    return f"{_known(height)}p" if height >= min(_KBITS) * 0.85 else f"{round(height)}p"


def _known(height: float) -> int:
    return min(_KBITS, key=lambda rung: abs(math.log(rung / max(height, 1))))


def _rung(video: VideoStream, height: float, label: str) -> Rung:
    scale = min(1.0, height / _box(video.width, video.height))
    rate = frame_rate(video.rate, height)
    return Rung(
        label=label,
        width=_even(video.width * scale),
        height=_even(video.height * scale),
        kbits=round(_KBITS[_known(height)] * (1.5 if rate > 30 else 1.0)),
        rate=(rate.numerator, rate.denominator),
    )


def _box(width: int, height: int) -> float:
    """The height of the smallest 16:9 box, lying or standing, that holds this picture."""
    return max(min(width, height), max(width, height) * 9 / 16)


def _even(length: float) -> int:
    return max(2, math.floor(length / 2 + 1e-6) * 2)


def _encode(name: str, detail: dict[str, Any], *, fast: bool = False) -> PartPlan:
    cost = _AUDIO_COST if detail["media"] == "audio" else _video_cost(detail)
    return PartPlan(
        name=name, kind="encode", priority="high" if fast else "normal", fast=fast, weight=cost, gives=_given(detail),
        detail=detail,
    )


def _given(detail: dict[str, Any]) -> str:
    if detail["media"] == "audio":
        return "its sound"
    labels = [str(rung["label"]) for rung in detail["rungs"]]
    return f"its {'quality' if len(labels) == 1 else 'qualities'} {', '.join(labels)}"


def _video_cost(detail: dict[str, Any]) -> float:
    """Measured: decoding a picture costs about a third of encoding it at the same size."""
    stream = detail["stream"]
    made = sum(rung["width"] * rung["height"] for rung in detail["rungs"])
    return float(round((0.35 * stream["width"] * stream["height"] + made) / _PIXELS, 3))


def _pictures(probe: Probe, *, needs: tuple[str, ...]) -> PartPlan:
    detail = {
        "video": msgspec.to_builtins(probe.video),
        "audio": msgspec.to_builtins(probe.audio),
        "cover": probe.cover,
    }
    return PartPlan(
        name="pictures", kind="pictures", priority="high", needs=needs, vital=False, weight=0.1, detail=detail,
        gives="its poster" if probe.video is None else "its poster and the small pictures along its timeline",
    )


def _package(needs: tuple[str, ...], video: str | None) -> PartPlan:
    detail = {"video": video, "sound": "audio" in needs}
    return PartPlan(
        name="mp4", kind="package", priority="high", needs=needs, vital=False, weight=0.1, detail=detail,
        gives="its file to download",
    )


def _video_detail(probe: Probe, rungs: list[Rung]) -> dict[str, Any]:
    return {
        "media": "video",
        "stream": msgspec.to_builtins(probe.video),
        "rungs": msgspec.to_builtins(rungs),
        "duration": probe.duration,
    }


def _audio_detail(probe: Probe) -> dict[str, Any]:
    return {"media": "audio", "stream": msgspec.to_builtins(probe.audio), "duration": probe.duration}
