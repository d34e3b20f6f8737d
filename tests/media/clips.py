"""Small clips with the very property a test is about, made by the real ffmpeg and kept for the session."""

import subprocess
from pathlib import Path

import imageio_ffmpeg

TONE = "-f lavfi -i sine=440:d={d}"
MADE: dict[str, str] = {
    "plain": "-f lavfi -i testsrc2=s=320x180:r=25:d=2 -f lavfi -i sine=440:d=2 -c:v libx264 -pix_fmt yuv420p -c:a aac {out}.mp4",
    "large": "-f lavfi -i testsrc2=s=1280x720:r=25:d=5 -f lavfi -i sine=440:d=5 -c:v libx264 -preset ultrafast "
    "-pix_fmt yuv420p -c:a aac {out}.mp4",
    "odd": "-f lavfi -i testsrc=s=465x307:r=25:d=1 -c:v libvpx-vp9 -b:v 300k -deadline realtime -cpu-used 8 "
    "-pix_fmt yuv420p {out}.webm",
    "gif": "-f lavfi -i testsrc=s=201x151:r=10:d=1 {out}.gif",
    "picture": "-f lavfi -i testsrc=s=201x151:r=10 -frames:v 1 {out}.gif",
    "jpeg": "-f lavfi -i testsrc=s=200x150:r=10 -frames:v 1 -update 1 {out}.jpg",
    "x444": "-f lavfi -i testsrc2=s=320x180:r=25:d=1 -c:v libx264 -pix_fmt yuv444p {out}.mp4",
    "hdr10": "-f lavfi -i testsrc2=s=320x180:r=10:d=1 -vf setparams=color_primaries=bt2020:color_trc=smpte2084:"
    "colorspace=bt2020nc -c:v libx265 -x265-params log-level=error:hdr10=1:repeat-headers=1 -pix_fmt yuv420p10le "
    "-tag:v hvc1 {out}.mp4",
    "portrait": "-f lavfi -i testsrc2=s=360x640:r=25:d=1 -c:v libx264 -pix_fmt yuv420p {out}.mp4",
    "anamorphic": "-f lavfi -i testsrc2=s=720x576:r=25:d=1 -vf setsar=64/45 -c:v mpeg2video -q:v 4 {out}.mpg",
    "slow": "-f lavfi -i testsrc2=s=320x180:r=240:d=1 -c:v libx264 -preset ultrafast -pix_fmt yuv420p {out}.mp4",
    "vfr": "-f lavfi -i testsrc2=s=320x180:r=60:d=4 -f lavfi -i sine=440:d=4 -vf "
    "select='if(lt(t\\,2)\\,1\\,not(mod(n\\,12)))' -fps_mode vfr -c:v libx264 -pix_fmt yuv420p -c:a aac {out}.mp4",
    "still": "-f lavfi -i color=c=red:s=320x180:r=1/10:d=20 -f lavfi -i sine=440:d=20 -c:v libx264 -pix_fmt yuv420p "
    "-tune stillimage -c:a aac {out}.mp4",
    "silent": "-f lavfi -i testsrc2=s=320x180:r=25:d=1 -c:v libx264 -pix_fmt yuv420p {out}.mp4",
    "sound": "-f lavfi -i sine=440:d=3 -c:a aac -vn {out}.mp4",
    "cover": "-f lavfi -i sine=440:d=3 -f lavfi -i testsrc2=s=300x300:d=1:r=1 -map 0:a -map 1:v -frames:v 1 "
    "-c:a libmp3lame -c:v mjpeg -pix_fmt yuvj420p -id3v2_version 3 -disposition:v attached_pic {out}.mp3",
    "surround": "-f lavfi -i testsrc2=s=320x180:r=25:d=1 -f lavfi -i anoisesrc=d=1:a=0.1 -c:v libx264 -pix_fmt yuv420p "
    "-af pan=5.1|FL=0*c0|FR=0*c0|FC=c0|LFE=0*c0|BL=0*c0|BR=0*c0 -c:a aac {out}.mp4",
    "two_tracks": "-f lavfi -i testsrc2=s=320x180:r=25:d=1 -f lavfi -i sine=440:d=1 -f lavfi -i sine=880:d=1 -map 0 "
    "-map 1 -map 2 -c:v libx264 -pix_fmt yuv420p -c:a aac -disposition:a:0 0 -disposition:a:1 default {out}.mkv",
    "endless": "-f lavfi -i testsrc2=s=320x180:r=30:d=2 -f lavfi -i sine=440:d=2 -c:v libvpx -b:v 300k "
    "-deadline realtime -c:a libopus -f webm -live 1 pipe:1",
    "one_frame": "-f lavfi -i testsrc2=s=320x180:r=25 -frames:v 1 -c:v libx264 -pix_fmt yuv420p {out}.mp4",
    "late_sound": "-f lavfi -i testsrc2=s=320x180:r=25:d=3 -itsoffset 1.5 -f lavfi -i sine=440:d=1.5 -c:v libx264 "
    "-pix_fmt yuv420p -c:a aac {out}.mp4",
    "late_start": "-f lavfi -i testsrc2=s=320x180:r=25:d=2 -f lavfi -i sine=440:d=2 -c:v libx264 -pix_fmt yuv420p "
    "-c:a aac -output_ts_offset 53127 {out}.ts",
    "interlaced": "-f lavfi -i testsrc2=s=720x576:r=50:d=1 -vf tinterlace=interleave_top,setfield=tff -c:v libx264 "
    "-flags +ilme+ildct -x264opts tff=1 -pix_fmt yuv420p {out}.mp4",
    "faststart": "-f lavfi -i testsrc2=s=320x180:r=25:d=4 -f lavfi -i sine=440:d=4 -c:v libx264 -pix_fmt yuv420p "
    "-c:a aac -movflags +faststart {out}.mp4",
    "long": "-f lavfi -i color=c=gray:s=64x36:r=1:d=1800 -c:v libx264 -preset ultrafast -pix_fmt yuv420p {out}.mp4",
}


def ffmpeg(*arguments: str) -> bytes:
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-hide_banner", "-loglevel", "error", "-y", *arguments]
    return subprocess.run(command, check=True, capture_output=True, timeout=120).stdout


def make(kind: str, folder: Path) -> Path:
    """The clip of that kind; made once for each folder."""
    found = [path for path in folder.glob(f"{kind}.*") if path.suffix != ".part"]
    if found:
        return found[0]
    arguments = [argument.replace("{out}", str(folder / kind)) for argument in MADE[kind].split()]
    out = ffmpeg(*arguments)
    if out:
        (folder / f"{kind}.webm").write_bytes(out)
    return next(folder.glob(f"{kind}.*"))
