"""The first bytes of a source, and ffprobe's complaint, as a sentence for the owner of what is no video."""

from shared.errors import Permanent

LENGTH = 512

_PLAYLISTS = (b"#extm3u", b"#extinf", b"ffconcat", b"[playlist]", b"<asx", b"<smil", b"<mpd", b"<playlist")
_PAGES = (b"<!doctype", b"<html", b"<head", b"<body")
_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"BM", b"II*\x00", b"MM\x00*", b"8BPS", b"\x00\x00\x01\x00")
_STILL_BRANDS = (b"heic", b"heix", b"mif1", b"msf1", b"avif")
_ARCHIVES = (b"PK\x03\x04", b"Rar!", b"7z\xbc\xaf", b"\x1f\x8b")
_AN_IMAGE = "this is an image, not a video"


def refuse_by_look(head: bytes) -> None:
    """Raises Permanent for what needs no ffprobe to be known as no video."""
    sentence = _kind(head)
    if sentence:
        raise Permanent(sentence)


def sentence(complaint: str, head: bytes) -> str:
    """What the owner reads when ffprobe gave up with `complaint`."""
    if "moov atom not found" in complaint:
        return "the file is incomplete: its index (moov) is missing; export or upload it again"
    if "max pixel count" in complaint:
        return "its picture is larger than this site can show"
    if not head.strip(b"\x00"):
        return "the file holds only zeros; upload it again"
    if _is_text(head):
        return "this is a text, not a video"
    return "this is not a video that can be read; it may be damaged or of an unknown kind"


def _kind(head: bytes) -> str:
    text = head.decode("utf-8", "ignore").lstrip("\ufeff \t\r\n").lower().encode()
    if not head:
        return "the file is empty; upload it again"
    if text.startswith(_PLAYLISTS) or (text.startswith(b"<?xml") and any(mark in text for mark in _PLAYLISTS)):
        return "playlists cannot be uploaded; upload the video itself"
    if text.startswith(_PAGES) or (text.startswith(b"<?xml") and b"<html" in text):
        return "this is a web page, not a video"
    if head.startswith(_PICTURES) or (head[:4] == b"RIFF" and head[8:12] == b"WEBP") or b"<svg" in text:
        return _AN_IMAGE
    if head[4:8] == b"ftyp" and head[8:12] in _STILL_BRANDS:
        return _AN_IMAGE
    if head.startswith(_ARCHIVES):
        return "this is an archive, not a video; unpack it and upload what is inside"
    if head.startswith(b"%PDF"):
        return "this is a document, not a video"
    return ""


def _is_text(head: bytes) -> bool:
    try:
        text = head[: LENGTH - 4].decode()
    except UnicodeDecodeError:
        return False
    return bool(text) and all(character.isprintable() or character in "\r\n\t" for character in text)
