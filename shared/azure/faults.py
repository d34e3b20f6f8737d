"""What the service or the way to it says went wrong, as one of our named failures."""

from collections.abc import Iterator
from contextlib import contextmanager

from azure.core.exceptions import (
    AzureError,
    ClientAuthenticationError,
    HttpResponseError,
    IncompleteReadError,
    ServiceRequestError,
    ServiceResponseError,
)

from shared.errors import Busy, Conflict, Forbidden, Invalid, Lost, MatineeError, NotFound

_BY_CODE: dict[str, type[MatineeError]] = {
    "MessageNotFound": Lost,
    "PopReceiptMismatch": Lost,
    "LeaseIdMismatchWithLeaseOperation": Lost,
    "LeaseNotPresentWithLeaseOperation": Lost,
    "LeaseIsBrokenAndCannotBeRenewed": Lost,
    "QueueBeingDeleted": Busy,
    "TableBeingDeleted": Busy,
}
_BY_STATUS: dict[int, type[MatineeError]] = {
    304: Conflict,
    401: Forbidden,
    403: Forbidden,
    404: NotFound,
    408: Busy,
    409: Conflict,
    412: Conflict,
    429: Busy,
}


@contextmanager
def named(about: str) -> Iterator[None]:
    """`about` says what was asked for, for the message. Nothing of the request is shown: it may hold a signature."""
    try:
        yield
    except HttpResponseError as error:
        raise failure(error, about) from None
    except (ServiceRequestError, ServiceResponseError, IncompleteReadError):
        raise Busy(f"{about}: the storage account cannot be reached just now") from None
    except AzureError as error:
        raise Busy(f"{about}: the storage account did not answer properly ({type(error).__name__})") from None


def failure(error: HttpResponseError, about: str) -> MatineeError:
    code, status = code_of(error), error.status_code or 0
    kind = _BY_CODE.get(code) or _BY_STATUS.get(status)
    if kind is None and isinstance(error, ClientAuthenticationError):
        kind = Forbidden
    kind = kind or (Busy if status >= 500 or status == 0 else Invalid)
    return kind(f"{about}: the storage account says {status} {code}".rstrip())


def code_of(error: HttpResponseError) -> str:
    """The service's own word for it, such as BlobNotFound."""
    code = getattr(error, "error_code", None)
    return str(getattr(code, "value", code) or "")
