"""The log lines of feedback and generate about an email, in CloudWatch Logs."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from gazette.adapters.aws.clients import client
from gazette.domain.delivery.run import Run
from gazette.domain.errors import Unavailable
from gazette.domain.feedback.delivery_events import DeliveryEventType
from gazette.domain.identity import run_id
from gazette.domain.model import RunKey

from gazette_support.domain.acceptance.rows import NotShown

_ENDED = {"run ended", "run had already ended"}
_DENIED = {"AccessDenied", "AccessDeniedException"}


class CloudWatchDeliveryLog:
    """Implementation of the `DeliveryLog` port, by the log groups of a stage.

    Each search makes one FilterLogEvents call per page. The functions write JSON, so a pattern can
    select the lines of a run. The filter is repeated here, because an emulator may not apply it, or
    may put all lines of an invocation into one event.
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html
    """

    def __init__(self, stage: str) -> None:
        self._stage = stage

    def message_ids(self, run: Run, since: datetime) -> frozenset[str]:
        """Return the ids of the messages that SES accepted, by its delivery events.

        An event about the message that is stored in the run shares a line with events of other
        runs. An event about any other message has its own line. An event that EventBridge delivers
        twice has the same id twice.
        """
        own = self._of_run("feedback", run.key, since)
        ids = {
            line["provider_message_id"]
            for line in own
            if line.get("type") == DeliveryEventType.SENT and line.get("provider_message_id")
        }
        if run.message_id:
            shared = self._lines("feedback", f'"{run.message_id}"', since)
            if any(run.message_id in line.get(DeliveryEventType.SENT, ()) for line in shared):
                ids.add(run.message_id)
        return frozenset(ids)

    def endings(self, run: RunKey, since: datetime) -> int:
        """Return the number of lines of generate about an end of the run, now or before."""
        lines = self._of_run("generate", run, since)
        return sum(line.get("message") in _ENDED for line in lines)

    def _of_run(self, function: str, run: RunKey, since: datetime) -> Iterator[Mapping[str, Any]]:
        name = run_id(run)
        for line in self._lines(function, f'{{ $.correlation_id = "{name}" }}', since):
            if line.get("correlation_id") == name:
                yield line

    def _lines(self, function: str, pattern: str, since: datetime) -> Iterator[Mapping[str, Any]]:
        group = f"/aws/lambda/gazette-{self._stage}-{function}"
        pages = client("logs").get_paginator("filter_log_events")
        try:
            for page in pages.paginate(
                logGroupName=group,
                startTime=int(since.timestamp() * 1000),
                filterPattern=pattern,
            ):
                texts = (each.get("message", "") for each in page["events"])
                yield from (_fields(line) for text in texts for line in text.splitlines())
        except ClientError as err:
            if err.response.get("Error", {}).get("Code") in _DENIED:
                raise NotShown(
                    f"The log {group} is not readable. Your credentials need logs:FilterLogEvents."
                ) from err
            raise Unavailable(f"The log {group} is not readable: {err}") from err
        except BotoCoreError as err:
            raise Unavailable(f"The log {group} is not readable: {err}") from err


def _fields(message: str) -> Mapping[str, Any]:
    """Return the fields of a line; empty for a line that is not a JSON object."""
    try:
        read: Any = json.loads(message[message.index("{") :])
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}
