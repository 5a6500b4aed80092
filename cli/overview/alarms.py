"""The alarms of a stage that are raised, and which page says what to do."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import boto3

from cli.shared.aws_errors import refusals_in_words

_PAGES = Path(__file__).parents[2] / "docs" / "runbook"


@dataclass(frozen=True, slots=True)
class Alarm:
    """An alarm in the state ALARM, by its name without that of the stage, and since when."""

    name: str
    since: datetime

    @property
    def page(self) -> str:
        """Where the runbook says what to do."""
        page = "dead-letters" if self.name.endswith("-dead-not-empty") else self.name
        return f"docs/runbook/{page if (_PAGES / f'{page}.md').exists() else 'README'}.md"


def raised(stage: str) -> list[Alarm]:
    """Those that are raised, the longest first. One DescribeAlarms per hundred."""
    prefix = f"gazette-{stage}-"
    with refusals_in_words("alarms", service="cloudwatch"):
        pages = boto3.client("cloudwatch").get_paginator("describe_alarms")
        asked = {"AlarmNamePrefix": prefix, "StateValue": "ALARM"}
        found = [each for page in pages.paginate(**asked) for each in page.get("MetricAlarms", [])]
    alarms = [
        Alarm(each["AlarmName"].removeprefix(prefix), each["StateUpdatedTimestamp"])
        for each in found
        if each["StateValue"] == "ALARM"  # engines look at the prefix alone
    ]
    return sorted(alarms, key=lambda alarm: alarm.since)
