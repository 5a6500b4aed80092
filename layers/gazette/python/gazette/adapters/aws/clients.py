"""The AWS clients of a process: one botocore session, and one client for each use.

boto3 is not imported: its clients are botocore's, and what it adds takes 20 ms of a cold start.
"""

import json
from dataclasses import dataclass
from functools import cache
from threading import RLock
from typing import Any

from botocore.config import Config
from botocore.session import Session, get_session

CONNECTIONS = 10
"""Connections that a client keeps open: one for each message that an invocation works on."""

_MAKING = RLock()
"""A session makes one client at a time; clients themselves serve any number of threads.
https://docs.aws.amazon.com/boto3/latest/guide/clients.html, "Multithreading or multiprocessing"
"""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a client waits, in seconds, and how often it tries, the first time included."""

    connect: float
    read: float
    attempts: int

    @property
    def longest(self) -> float:
        """The longest that a request may take, without the pauses between attempts."""
        return (self.connect + self.read) * self.attempts


def client(
    service: str,
    patience: Patience | None = None,
    *,
    connections: int = CONNECTIONS,
    validates: bool = True,
) -> Any:
    """The client of a service, by botocore's name, the same one for the same arguments.

    Without `patience` it has botocore's: a minute to connect and to read, and three attempts.
    `validates`: compare each request with the service's model before it is sent.
    """
    with _MAKING:
        return _client(service, patience, connections, validates)


def forget() -> None:
    """Let the next client be made anew. A client keeps the endpoint that it was made with."""
    _client.cache_clear()


_BINARY = (b'"B"', b'"BS"')
"""The types of attribute values that DynamoDB sends in Base64."""


def _read_page(
    response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: object
) -> None:
    """Read a page of a Query as it is: its JSON says what botocore would make of it.

    botocore walks through each attribute value with the model of the service, which takes five
    times as long as reading the JSON. Only binary values need that.
    https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_AttributeValue.html
    """
    body = response_dict["body"]
    if response_dict["status_code"] == _OK and not any(each in body for each in _BINARY):
        customized_response_dict.update(json.loads(body))
        response_dict["body"] = b"{}"


_OK = 200


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
    made = _session().create_client(service, config=Config(**options))
    if service == "dynamodb":
        made.meta.events.register("before-parse.dynamodb.Query", _read_page)
    return made


@cache
def _session() -> Session:
    """Reads botocore's data once for all clients.

    botocore builds the header User-Agent twice for each request, from a dozen parts, unless it is
    given. This one says what botocore's own says of versions and platform, but not which of
    botocore's features a request uses.
    https://docs.aws.amazon.com/botocore/latest/reference/config.html, "user_agent"
    """
    session = get_session()
    session.set_default_client_config(Config(user_agent=f"{session.user_agent()} app/gazette"))
    return session
