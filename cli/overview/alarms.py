"""The alarms of a stage that are raised, and which page says what to do."""

import re
from dataclasses import dataclass
from datetime import datetime

import boto3

from cli.shared.aws_errors import refusals_in_words

INDEX = "docs/runbook/README.md"

_LAST = re.compile(r"\bSee (\S+\.md)\.?$")


@dataclass(frozen=True, slots=True)
class Alarm:
    """An alarm in the state ALARM, by its name without that of the stage, and since when.

    `page`: where the runbook says what to do.
    """

    name: str
    since: datetime
    page: str


def page_of(alarm_text: str) -> str:
    """The page with which the text of an alarm ends: its path, or where the stage says with
    `runbook_url` that it is read. A text that ends otherwise is none of Gazette's: the index."""
    found = _LAST.search(alarm_text)
    return found[1] if found else INDEX


def raised(stage: str) -> list[Alarm]:
    """Those that are raised, the longest first. One DescribeAlarms per hundred."""
    prefix = f"gazette-{stage}-"
    with refusals_in_words("alarms", service="cloudwatch"):
        pages = boto3.client("cloudwatch").get_paginator("describe_alarms")
        asked = {"AlarmNamePrefix": prefix, "StateValue": "ALARM"}
        found = [each for page in pages.paginate(**asked) for each in page.get("MetricAlarms", [])]
    alarms = [
        Alarm(
            each["AlarmName"].removeprefix(prefix),
            each["StateUpdatedTimestamp"],
            page_of(each.get("AlarmDescription", "")),
        )
        for each in found
        if each["StateValue"] == "ALARM"  # engines look at the prefix alone
    ]
    return sorted(alarms, key=lambda alarm: alarm.since)
