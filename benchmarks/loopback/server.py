"""The loopback server for DynamoDB, SQS, SES and Secrets Manager.

`python -m benchmarks.loopback.server` runs it as a separate process, so that its CPU time does not
count towards its clients. The server responds after the latency of the service. It prints its port,
and ends when standard input ends. POST /control with {"latency": {service: seconds}} sets
latencies, and with {"clear": true} resets the counts. The response contains the calls so far by
service, operation and table.
"""

import asyncio
import json
import re
import sys
import zlib
from collections import Counter
from functools import partial
from typing import Any

from benchmarks.loopback.tables import Refused, Tables

_SERVICES = {"DynamoDB_20120810": "dynamodb", "AmazonSQS": "sqs", "secretsmanager": "secrets"}
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_TARGET = re.compile(rb"x-amz-target: *(\S+)", re.IGNORECASE)
_SECRETS = {
    "links": json.dumps({"k1": "k" * 64}),
    "suppressions": "s" * 64,
}


class Cloud:
    """The services with their responses, latencies, and counts of calls."""

    def __init__(self) -> None:
        self.latency: dict[str, float] = {}
        self.calls: Counter[str] = Counter()
        self._tables = Tables()
        self._emails = 0

    def answer(self, path: str, target: str, body: bytes) -> tuple[int, bytes, float]:
        """Return the status, the body, and the delay in seconds before the response is sent."""
        request = json.loads(body or b"{}")
        if path == "/control":
            return 200, json.dumps(self._control(request)).encode(), 0.0
        prefix, _, operation = target.partition(".")
        service = _SERVICES.get(prefix, "ses")
        latency = self.latency.get(service, 0.0)
        self._count(service, operation or "SendEmail", request)
        try:
            answer = getattr(self, f"_{service}")(operation, request)
        except Refused as refused:
            failed = {"__type": f"com.amazonaws.dynamodb.v20120810#{refused.code}"}
            said = {**failed, "message": "refused", **refused.details}
            return 400, json.dumps(said).encode(), latency
        return 200, json.dumps(answer).encode(), latency

    def _count(self, service: str, operation: str, request: dict[str, Any]) -> None:
        table = request.get("TableName") or "+".join(sorted(request.get("RequestItems", ())))
        self.calls[f"{service} {operation} {table}".strip()] += 1

    def _control(self, request: dict[str, Any]) -> dict[str, int]:
        self.latency.update(request.get("latency", {}))
        counted = dict(self.calls)
        if request.get("clear"):
            self.calls.clear()
        return counted

    def _dynamodb(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        return self._tables.answer(operation, request)

    def _sqs(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if operation != "SendMessageBatch":
            return {"MessageId": "0"}
        taken = [{"Id": e["Id"], "MessageId": e["Id"]} for e in request["Entries"]]
        return {"Successful": taken, "Failed": []}

    def _secrets(self, _: str, request: dict[str, Any]) -> dict[str, Any]:
        return {"VersionId": "1", "SecretString": _SECRETS[request["SecretId"]]}

    def _ses(self, _: str, __: dict[str, Any]) -> dict[str, Any]:
        self._emails += 1
        return {"MessageId": f"0100018f-{self._emails:012d}-000000"}


class _Connection(asyncio.Protocol):
    """A persistent connection. The client sends the next request only after the response."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport

    def data_received(self, data: bytes) -> None:
        loop = asyncio.get_running_loop()
        asked_at = loop.time()
        self._buffer += data
        head, separator, rest = self._buffer.partition(b"\r\n\r\n")
        if not separator:
            return
        length = _LENGTH.search(head)
        size = int(length[1]) if length else 0
        if len(rest) < size:
            return
        self._buffer = rest[size:]
        target = _TARGET.search(head)
        path = head.split(b" ", 2)[1].decode()
        status, body, latency = self._cloud.answer(
            path, target[1].decode() if target else "", rest[:size]
        )
        content = b"application/x-amz-json-1.0" if target else b"application/json"
        answer = (
            b"HTTP/1.1 %d OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n"
            b"x-amzn-RequestId: loopback\r\nx-amz-crc32: %d\r\n\r\n%s"
            % (status, content, len(body), zlib.crc32(body), body)
        )
        loop.call_at(asked_at + latency, self._transport.write, answer)


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    cloud = Cloud()
    server = await loop.create_server(partial(_Connection, cloud), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


def main() -> int:
    """Run the server until standard input ends."""
    asyncio.run(_serve())
    return 0


if __name__ == "__main__":
    sys.exit(main())
