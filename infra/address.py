"""The socket the site answers at: bound before anything starts, and handed on, so that a restart loses no visitor."""

import errno
import socket

from shared.errors import Busy, Invalid


def listen(host: str, port: int) -> socket.socket:
    """Port 0 takes any free one. Raises Busy if another program has it, Invalid if this machine has no such address."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)
    except socket.gaierror:
        raise Invalid(f"{host!r} is not an address of this machine; try 127.0.0.1, or 0.0.0.0 for all.") from None
    except OSError as error:
        raise _explained(error, host, port) from None
    return listener


def url_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = "localhost"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _explained(error: OSError, host: str, port: int) -> Busy | Invalid:
    if error.errno == errno.EADDRINUSE:
        return Busy(f"Port {port} on {host} is in use by another program. Stop it, or choose another with --port N.")
    if error.errno in (errno.EACCES, errno.EPERM):
        return Invalid(f"This account may not listen on port {port}; choose one above 1023 with --port N.")
    return Invalid(f"Cannot listen on {host} port {port}: {error.strerror}.")
