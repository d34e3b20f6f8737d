"""What a sweep finds: each thing to put right, said in words, and the call that does it."""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Finding:
    """`what` in a few words, `about` which video or blob, `mend` to put it right."""

    what: str
    about: str
    mend: Callable[[], None] = field(repr=False, compare=False)
