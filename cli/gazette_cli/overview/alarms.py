"""The raised alarms of a stage, and the runbook page of each."""

import re
from dataclasses import dataclass
from datetime import datetime

import boto3

from gazette_cli.shared.aws_errors import refusals_in_words

INDEX = "docs/runbook/README.md"

_LAST = re.compile(r"\bSee (\S+\.md)\.?$")


@dataclass(frozen=True, slots=True)
class Alarm:
    """An alarm in the state ALARM."""

    # The name without the prefix of the stage.
    name: str

    since: datetime

    # The runbook page, as a path or a URL.
    page: str


def page_of(alarm_text: str) -> str:
    """Return the runbook page that an alarm's description names.

    The page is a path, or a URL if the stage sets `runbook_url`. If the description names no page,
    return the index of the runbook.
    """
    match = _LAST.search(alarm_text)
    return match[1] if match else INDEX


def raised(stage: str) -> list[Alarm]:
    """Return the raised alarms, oldest first, with one DescribeAlarms call per hundred alarms."""
    prefix = f"gazette-{stage}-"
    with refusals_in_words("alarms", service="cloudwatch"):
        pages = boto3.client("cloudwatch").get_paginator("describe_alarms")
        filters = {"AlarmNamePrefix": prefix, "StateValue": "ALARM"}
        results = [
            each for page in pages.paginate(**filters) for each in page.get("MetricAlarms", [])
        ]
    alarms = [
        Alarm(
            each["AlarmName"].removeprefix(prefix),
            each["StateUpdatedTimestamp"],
            page_of(each.get("AlarmDescription", "")),
        )
        for each in results
        if each["StateValue"] == "ALARM"  # local engines filter only by prefix
    ]
    return sorted(alarms, key=lambda alarm: alarm.since)
