"""How Whoosh tells that its files are damaged or gone: by whatever fails first while it reads them."""

import pickle
import struct
import zlib

from whoosh.codec.base import OutOfOrderError
from whoosh.filedb.filetables import FileFormatError
from whoosh.index import IndexError as UnusableIndex
from whoosh.reading import CorruptIndexError

DAMAGE = (
    OSError, EOFError, ValueError, LookupError, AssertionError, OverflowError,
    struct.error, zlib.error, pickle.UnpicklingError,
    CorruptIndexError, FileFormatError, OutOfOrderError, UnusableIndex,
)  # fmt: skip
