"""The AWS clients of a process, which share one botocore session.

boto3 is not imported, because its clients are botocore's and the import adds 20 ms to a cold start.
"""

from dataclasses import dataclass
from functools import cache
from threading import RLock
from typing import Any

from botocore.config import Config
from botocore.session import Session, get_session

CONNECTIONS = 10
"""The number of connections that a client keeps open, one for each message of an invocation."""

_MAKING = RLock()
"""A lock for creating clients. Clients are thread-safe, but a session is not.
https://docs.aws.amazon.com/boto3/latest/guide/clients.html, "Multithreading or multiprocessing"
"""


@dataclass(frozen=True, slots=True)
class Patience:
    """The time-outs of an AWS client in seconds, and the maximum number of attempts."""

    connect: float
    read: float
    attempts: int
    """The maximum number of attempts, including the first."""

    @property
    def longest(self) -> float:
        """The longest duration of a request, excluding the pauses between attempts."""
        return (self.connect + self.read) * self.attempts


def client(
    service: str,
    patience: Patience | None = None,
    *,
    connections: int = CONNECTIONS,
    validates: bool = True,
) -> Any:
    """Return a client for an AWS service, such as `sqs`.

    Equal arguments return the same client. Without `patience`, the client has botocore's defaults:
    a minute to connect, a minute to read, and three attempts. `validates` turns botocore's
    parameter validation on.
    """
    with _MAKING:
        return _client(service, patience, connections, validates)


def forget() -> None:
    """Discard all clients, because a client keeps the endpoint with which it was created."""
    _client.cache_clear()


@cache
def _client(service: str, patience: Patience | None, connections: int, validates: bool) -> Any:
    options: dict[str, Any] = {"max_pool_connections": connections}
    if not validates:
        options["parameter_validation"] = False
    if patience:
        options |= {
            "connect_timeout": patience.connect,
            "read_timeout": patience.read,
            "retries": {"total_max_attempts": patience.attempts, "mode": "standard"},
        }
    return _session().create_client(service, config=Config(**options))


@cache
def _session() -> Session:
    """Create the botocore session, which loads botocore's data once for all clients.

    By default, botocore builds the User-Agent header twice for each request, from a dozen parts.
    The header set here has the same versions and platform, but does not list the botocore features
    that a request uses.
    https://docs.aws.amazon.com/botocore/latest/reference/config.html, "user_agent"
    """
    session = get_session()
    session.set_default_client_config(Config(user_agent=f"{session.user_agent()} app/gazette"))
    return session
