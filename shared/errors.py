"""Every failure Matinee names; SDK, SQLite and OS errors become one of these at the backend's edge."""


class MatineeError(Exception):
    """Base of all named failures. The message is a sentence for the person who meets it."""


class NotFound(MatineeError):
    """The container, blob, queue, table, entity, video or person is not there."""


class Invalid(MatineeError):
    """The request can never succeed as given: a bad name, a limit passed, a checksum that does not match."""


class Conflict(MatineeError):
    """Somebody else was first: it exists already, or its ETag is no longer the one given."""


class Lost(MatineeError):
    """A pop receipt or lease is not (or no longer) ours; whoever holds it may be at work right now.

    A stale receipt and a vanished message are deliberately the same failure: a caller who lost a reply
    cannot tell them apart, and must in both cases finish only where a conditional write still holds.
    """


class Busy(MatineeError):
    """The store cannot answer now; the same call may succeed a little later."""


class Full(MatineeError):
    """No space is left to write; nothing was written and nothing that stood before was lost."""


class Forbidden(MatineeError):
    """The caller may not do this."""


class Permanent(MatineeError):
    """Work that no retry can mend (not a video, corrupt beyond use); the message is for the video's owner."""


class Stopped(MatineeError):
    """Work was told to stop (lease lost, video deleted, worker draining) and recorded nothing."""


class TooLong(MatineeError):
    """Work took longer than such work may; the try counts, and the next may have more luck."""
