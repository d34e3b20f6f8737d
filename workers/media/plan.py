"""From one probe to a plan: which rungs, in which parts, in which order. The plan is data; making it runs nothing."""

import math
from fractions import Fraction
from typing import Any

import msgspec

from shared.videos import PartPlan, Plan
from workers.media.probe import Probe, VideoStream

RECIPE = 1
"""Changes whenever the same source would be encoded differently."""

FIRST_HEIGHT = 360
MP4_HEIGHT = 720
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
    first = next((rung for rung in rungs if _short(rung) <= FIRST_HEIGHT), rungs[-1])
    rest = [rung for rung in rungs if rung is not first]
    parts = [_encode("first", _video_detail(probe, [first]), fast=True, weight=2.0)]
    if probe.audio is not None:
        parts.append(_encode("audio", _audio_detail(probe), fast=True, weight=0.5))
    if rest:
        parts.append(_encode("ladder", _video_detail(probe, rest), weight=sum(map(_cost, rest))))
    parts.append(_pictures(probe))
    small = [rung for rung in rungs if _short(rung) <= MP4_HEIGHT]
    best = small[0] if small else rungs[-1]
    home = "first" if best is first else "ladder"
    sound = ("audio",) if probe.audio is not None else ()
    parts.append(_package((home, *sound), best.label))
    return Plan(
        recipe=RECIPE,
        duration=probe.duration,
        width=rungs[0].width,
        height=rungs[0].height,
        parts=tuple(parts),
        first=("first", *sound),
    )


def _sound_plan(probe: Probe) -> Plan:
    parts = (
        _encode("audio", _audio_detail(probe), fast=True, weight=1.0),
        _pictures(probe),
        _package(("audio",), None),
    )
    return Plan(recipe=RECIPE, duration=probe.duration, width=0, height=0, parts=parts, first=("audio",))


def ladder(video: VideoStream) -> list[Rung]:
    """The rungs, highest first: the source's own size, then each ladder size at least 15 % below it.

    Sizes fit inside the rung's 16:9 box (9:16 for portrait), are even, and never above the source.
    """
    long, short = max(video.width, video.height), min(video.width, video.height)
    own = max(short, long * 9 / 16)
    ceiling = min(own, 2160)
    rungs = [_rung(video, ceiling, _nearest(ceiling))]
    rungs += [_rung(video, height, f"{height}p") for height in _KBITS if height <= ceiling * 0.85]
    named: dict[str, Rung] = {}
    for rung in rungs:
        named.setdefault(rung.label, rung)
    return list(named.values())


def _nearest(height: float) -> str:
    if height < 120:
        return f"{round(height)}p"
    return f"{min(_KBITS, key=lambda rung: abs(math.log(rung / height)))}p"


def _rung(video: VideoStream, height: float, label: str) -> Rung:
    long, short = max(video.width, video.height), min(video.width, video.height)
    scale = min(1.0, height / short, height * 16 / 9 / long)
    width, tall = _even(video.width * scale), _even(video.height * scale)
    rate = frame_rate(video.rate, height)
    kbits = _KBITS[min(_KBITS, key=lambda rung: abs(math.log(rung / max(height, 1))))]
    return Rung(
        label=label,
        width=width,
        height=tall,
        kbits=round(kbits * (1.5 if rate > 31 else 1.0)),
        rate=(rate.numerator, rate.denominator),
    )


def frame_rate(average: tuple[int, int], height: float) -> Fraction:
    """A constant rate: the source's average, snapped when within 4 %, 5 to 60, and at most 30 below 720p."""
    rate = min(max(Fraction(*average), Fraction(5)), Fraction(60))
    near = min(_RATES, key=lambda known: abs(known - rate))
    rate = near if abs(near - rate) <= rate * Fraction(4, 100) else Fraction(round(rate))
    if height < 700 and rate > 31:
        rate = rate / 2
    return rate


def _even(length: float) -> int:
    return max(2, math.floor(length / 2 + 1e-6) * 2)


def _short(rung: Rung) -> float:
    return max(min(rung.width, rung.height), max(rung.width, rung.height) * 9 / 16)


def _cost(rung: Rung) -> float:
    """Relative work of a rung: its pixels a second, plus the decode they share."""
    return 0.3 + rung.width * rung.height / (1280 * 720) * 2


def _encode(name: str, detail: dict[str, Any], *, fast: bool = False, weight: float) -> PartPlan:
    return PartPlan(name=name, kind="encode", priority="normal", fast=fast, weight=weight, detail=detail)


def _pictures(probe: Probe) -> PartPlan:
    return PartPlan(
        name="pictures", kind="pictures", priority="high", vital=False, weight=0.3, detail=_look(probe)
    )


def _package(needs: tuple[str, ...], video: str | None) -> PartPlan:
    detail = {"video": video, "sound": "audio" in needs}
    return PartPlan(name="mp4", kind="package", priority="high", needs=needs, vital=False, weight=0.1, detail=detail)


def _video_detail(probe: Probe, rungs: list[Rung]) -> dict[str, Any]:
    return {
        "media": "video",
        "stream": msgspec.to_builtins(probe.video),
        "rungs": msgspec.to_builtins(rungs),
        "duration": probe.duration,
    }


def _audio_detail(probe: Probe) -> dict[str, Any]:
    return {"media": "audio", "stream": msgspec.to_builtins(probe.audio), "duration": probe.duration}


def _look(probe: Probe) -> dict[str, Any]:
    return {
        "video": msgspec.to_builtins(probe.video),
        "audio": msgspec.to_builtins(probe.audio),
        "cover": probe.cover,
        "duration": probe.duration,
    }
