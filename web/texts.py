"""How numbers and moments read: the filters templates use."""

from datetime import datetime, timedelta

from flask import Flask
from flask_babel import format_timedelta
from flask_babel import gettext as _

from web.site import services

_NOW = timedelta(seconds=45)


def install(app: Flask) -> None:
    for name, text in (("duration", duration), ("ago", ago), ("filesize", filesize), ("isodate", isodate)):
        app.add_template_filter(text, name)


def duration(seconds: float | None) -> str:
    """3:05, or 1:02:03 from an hour on."""
    if seconds is None:
        return ""
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{left:02d}" if hours else f"{minutes}:{left:02d}"


def ago(moment: datetime | None) -> str:
    """ "3 days ago", in the reader's language."""
    if moment is None:
        return ""
    age = services().clock.now() - moment
    return _("just now") if age < _NOW else str(format_timedelta(-age, add_direction=True, threshold=1.2))


def filesize(size: float) -> str:
    """Bytes in the largest unit that keeps a number of at least one."""
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def isodate(moment: datetime | None) -> str:
    return moment.isoformat(timespec="seconds") if moment else ""
