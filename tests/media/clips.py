"""Small clips with the very property a test is about, made by the real ffmpeg, and looked at before they are believed."""

from pathlib import Path
from typing import NamedTuple

from tests.media.reading import ffmpeg, summary


class Clip(NamedTuple):
    """The arguments that make it, and what ffprobe must say of it, as `summary` names it."""

    arguments: str
    claims: dict[str, object]


PICTURE = "-f lavfi -i testsrc2=s=320x180:r=25:d={d}"
TONE = "-f lavfi -i sine=440:d={d}"
H264 = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p"

CLIPS: dict[str, Clip] = {
    "plain": Clip(f"{PICTURE} {TONE} {H264} -c:a aac {{out}}.mp4".replace("{d}", "2"), {"v.width": 320, "a.channels": 1}),
    "large": Clip(
        f"-f lavfi -i testsrc2=s=1280x720:r=25:d=5 -f lavfi -i sine=440:d=5 {H264} -c:a aac {{out}}.mp4",
        {"v.height": 720, "format.duration": 5.0},
    ),
    "film_rate": Clip(
        f"-f lavfi -i testsrc2=s=1280x720:r=60000/1001:d=5 {H264} {{out}}.mp4", {"v.avg_frame_rate": "60000/1001"}
    ),
    "odd": Clip(
        "-f lavfi -i testsrc=s=465x307:r=25:d=1 -c:v libvpx-vp9 -b:v 300k -deadline realtime -cpu-used 8 "
        "-pix_fmt yuv420p {out}.webm",
        {"v.width": 465, "v.height": 307},
    ),
    "gif": Clip("-f lavfi -i testsrc=s=201x151:r=10:d=1 {out}.gif", {"v.codec_name": "gif", "v.width": 201}),
    "red_gif": Clip("-f lavfi -i color=red:s=64x64:r=10:d=1 {out}.gif", {"v.pix_fmt": "bgra"}),
    "picture": Clip("-f lavfi -i testsrc=s=201x151:r=10 -frames:v 1 {out}.gif", {"v.codec_name": "gif"}),
    "jpeg": Clip("-f lavfi -i testsrc=s=200x150:r=10 -frames:v 1 -update 1 {out}.jpg", {"v.codec_name": "mjpeg"}),
    "x444": Clip(
        "-f lavfi -i testsrc2=s=320x180:r=25:d=1 -c:v libx264 -pix_fmt yuv444p {out}.mp4", {"v.pix_fmt": "yuv444p"}
    ),
    "prores": Clip(
        "-f lavfi -i testsrc2=s=320x180:r=25:d=1 -c:v prores_ks -profile:v 3 -pix_fmt yuv422p10le {out}.mov",
        {"v.codec_name": "prores", "v.pix_fmt": "yuv422p10le"},
    ),
    "hdr10": Clip(
        "-f lavfi -i testsrc2=s=320x180:r=10:d=1 -vf setparams=color_primaries=bt2020:color_trc=smpte2084:"
        "colorspace=bt2020nc -c:v libx265 -x265-params log-level=error:hdr10=1:repeat-headers=1 "
        "-pix_fmt yuv420p10le -tag:v hvc1 {out}.mp4",
        {"v.color_transfer": "smpte2084", "v.color_primaries": "bt2020"},
    ),
    "hlg": Clip(
        "-f lavfi -i testsrc2=s=320x180:r=10:d=1 -vf setparams=color_trc=arib-std-b67 -c:v libx265 "
        "-x265-params log-level=error -pix_fmt yuv420p10le -tag:v hvc1 {out}.mov",
        {"v.color_transfer": "arib-std-b67", "v.color_primaries": None},
    ),
    "red_601": Clip(
        "-f lavfi -i color=red:s=64x64:r=10:d=1 -vf scale=out_color_matrix=bt601,format=yuv420p,"
        "setparams=colorspace=smpte170m -c:v libx264 -qp 0 {out}.mp4",
        {"v.color_space": "smpte170m"},
    ),
    "portrait": Clip(f"-f lavfi -i testsrc2=s=360x640:r=25:d=1 {H264} {{out}}.mp4", {"v.width": 360, "v.height": 640}),
    "anamorphic": Clip(
        "-f lavfi -i testsrc2=s=720x576:r=25:d=1 -vf setsar=64/45 -c:v mpeg2video -q:v 4 {out}.mpg",
        {"v.sample_aspect_ratio": "64:45"},
    ),
    "slow": Clip(f"-f lavfi -i testsrc2=s=320x180:r=240:d=1 {H264} {{out}}.mp4", {"v.avg_frame_rate": "240/1"}),
    "vfr": Clip(
        "-f lavfi -i testsrc2=s=320x180:r=60:d=4 -f lavfi -i sine=440:d=4 -vf "
        f"select='if(lt(t\\,2)\\,1\\,not(mod(n\\,12)))' -fps_mode vfr {H264} -c:a aac {{out}}.mp4",
        {"v.r_frame_rate": "60/1", "v.nb_frames": "130"},
    ),
    "still": Clip(
        f"-f lavfi -i color=c=red:s=320x180:r=1/10:d=20 -f lavfi -i sine=440:d=20 {H264} -c:a aac {{out}}.mp4",
        {"v.avg_frame_rate": "1/10", "v.nb_frames": "2"},
    ),
    "silent": Clip(f"{PICTURE} {H264} {{out}}.mp4".replace("{d}", "1"), {"a.index": None}),
    "sound": Clip("-f lavfi -i sine=440:d=3 -c:a aac -vn {out}.mp4", {"v.index": None, "a.codec_name": "aac"}),
    "cover": Clip(
        "-f lavfi -i sine=440:d=3 -f lavfi -i testsrc2=s=300x300:d=1:r=1 -map 0:a -map 1:v -frames:v 1 "
        "-c:a libmp3lame -c:v mjpeg -pix_fmt yuvj420p -id3v2_version 3 -disposition:v attached_pic {out}.mp3",
        {"v.attached_pic": 1, "format.format_name": "mp3"},
    ),
    "surround": Clip(
        f"-f lavfi -i testsrc2=s=320x180:r=25:d=1 -f lavfi -i anoisesrc=d=1:a=0.1 {H264} "
        "-af pan=5.1|FL=0*c0|FR=0*c0|FC=c0|LFE=0*c0|BL=0*c0|BR=0*c0 -c:a aac {out}.mp4",
        {"a.channels": 6},
    ),
    "loud_surround": Clip(
        "-f lavfi -i sine=440:d=1 -af volume=8,pan=5.1|FL=c0|FR=c0|FC=c0|LFE=c0|BL=c0|BR=c0 -c:a flac {out}.flac",
        {"a.channels": 6},
    ),
    "two_tracks": Clip(
        f"-f lavfi -i testsrc2=s=320x180:r=25:d=1 -f lavfi -i sine=440:d=1 -f lavfi -i sine=880:d=1 -map 0 -map 1 "
        f"-map 2 {H264} -c:a aac -disposition:a:0 0 -disposition:a:1 default {{out}}.mkv",
        {"streams": 3, "a.default": 0},
    ),
    "no_length": Clip(
        "-f lavfi -i testsrc2=s=320x180:r=30:d=2 -f lavfi -i sine=440:d=2 -c:v libvpx -b:v 300k "
        "-deadline realtime -c:a libopus -f webm -live 1 pipe:1",
        {"format.duration": None, "v.duration": None},
    ),
    "one_frame": Clip(
        f"-f lavfi -i testsrc2=s=320x180:r=25 -frames:v 1 {H264} {{out}}.mp4", {"v.nb_frames": "1"}
    ),
    "late_sound": Clip(
        "-f lavfi -i testsrc2=s=320x180:r=25:d=3 -itsoffset 1.5 -f lavfi -i sine=440:d=1.5 "
        f"{H264} -c:a aac {{out}}.mp4",
        {"a.start_time": "1.476780"},
    ),
    "late_start": Clip(
        f"{PICTURE} {TONE} {H264} -c:a aac -output_ts_offset 53127 {{out}}.ts".replace("{d}", "2"),
        {"format.starts_after": 53000},
    ),
    "interlaced": Clip(
        "-f lavfi -i testsrc2=s=720x576:r=50:d=1 -vf tinterlace=interleave_top,setfield=tff -c:v libx264 "
        "-flags +ilme+ildct -x264opts tff=1 -pix_fmt yuv420p {out}.mp4",
        {"frame.interlaced_frame": 1},
    ),
    "faststart": Clip(
        f"{PICTURE} {TONE} {H264} -c:a aac -movflags +faststart {{out}}.mp4".replace("{d}", "4"),
        {"format.duration": 4.0},
    ),
    "with_subtitles": Clip(
        f"{PICTURE} -f srt -i {{folder}}/words.srt -map 0:v -map 1:s {H264} -c:s ass {{out}}.mkv".replace("{d}", "1"),
        {"streams": 2},
    ),
    "long": Clip(
        "-f lavfi -i testsrc2=s=64x36:r=1:d=1800 -c:v libx264 -preset ultrafast -pix_fmt yuv420p {out}.mp4",
        {"format.duration": 1800.0},
    ),
    # A white flash and a beep, both from 1.0 s to 1.2 s, with B-frames.
    "clapper": Clip(
        "-f lavfi -i color=black:s=320x180:r=25:d=3 -f lavfi -i sine=1000:d=3:r=48000 "
        "-vf drawbox=c=white:t=fill:enable='between(t\\,1\\,1.19)' -af volume=0:enable='not(between(t\\,1\\,1.2))' "
        "-c:v libx264 -bf 3 -pix_fmt yuv420p -c:a aac {out}.mp4",
        {"v.has_b_frames": 2},
    ),
}


def make(kind: str, folder: Path) -> Path:
    """The clip of that kind; made once for each folder, and seen to be what it claims."""
    found = list(folder.glob(f"{kind}.*"))
    if found:
        return found[0]
    (folder / "words.srt").write_text("1\n00:00:00,000 --> 00:00:01,000\nhello\n")
    clip = CLIPS[kind]
    places = {"{out}": str(folder / kind), "{folder}": str(folder)}
    arguments = clip.arguments
    for place, path in places.items():
        arguments = arguments.replace(place, path)
    out = ffmpeg(*arguments.split())
    if out:
        (folder / f"{kind}.webm").write_bytes(out)
    path = next(folder.glob(f"{kind}.*"))
    said = summary(path)
    assert {claim: said.get(claim) for claim in clip.claims} == clip.claims
    return path
