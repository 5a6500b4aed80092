"""Alarms that watch no queue: what a function counts is what they look at."""

from pathlib import Path

import gazette
import pytest
from gazette.steps.doubts import Swept

from infra.constructs.alarms import COUNTED, Counted
from tests.infra.synthesis import Properties, Synthesis

_REPORTING = Path(gazette.__file__).parent / "reporting.py"


@pytest.fixture
def alarm(prod: Synthesis) -> Properties:
    """The one that watches the brake."""
    (found,) = (
        alarm
        for alarm in prod.service.of_type("AWS::CloudWatch::Alarm").values()
        if alarm.get("MetricName") == "brake_pulled"
    )
    return found


def test_the_brake_has_an_alarm_of_its_own_that_reaches_somebody(alarm: Properties) -> None:
    assert alarm["AlarmName"] == "gazette-prod-brake-pulled"
    assert alarm["AlarmActions"] == ["{Alarms}"]


def test_one_refusal_of_the_account_fires_it_for_an_hour(alarm: Properties) -> None:
    """The brake tries every half hour at least: so it does not fire anew each time."""
    assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("GreaterThanThreshold", 0)
    assert (alarm["Statistic"], alarm["TreatMissingData"]) == ("Sum", "notBreaching")
    assert alarm["DatapointsToAlarm"] == 1
    assert alarm["Period"] * alarm["EvaluationPeriods"] == 3600


def test_it_watches_what_those_count_who_send_in_its_own_stage(
    alarm: Properties, prod: Synthesis
) -> None:
    for step in ("generate", "resend"):
        _, function = prod.function(step)
        service = function["Environment"]["Variables"]["POWERTOOLS_SERVICE_NAME"]
        assert alarm["Dimensions"] == [{"Name": "service", "Value": service}]
    assert f'count("{alarm["MetricName"]}")' in _REPORTING.read_text()


def test_it_says_what_happened_and_what_to_do(alarm: Properties) -> None:
    said = alarm["AlarmDescription"]
    assert "refuses every email of this account" in said
    assert "`gazette brake --stage prod`" in said
    assert "`gazette brake release --stage prod`" in said
    assert len(said) <= 1024


@pytest.mark.parametrize(
    ("metric", "threshold"),
    [("Reputation.BounceRate", 0.05), ("Reputation.ComplaintRate", 0.001)],
)
def test_the_reputation_has_alarms_where_ses_begins_to_look(
    prod: Synthesis, metric: str, threshold: float
) -> None:
    (alarm,) = (
        alarm
        for alarm in prod.service.of_type("AWS::CloudWatch::Alarm").values()
        if alarm.get("MetricName") == metric
    )
    assert (alarm["Namespace"], alarm["Threshold"]) == ("AWS/SES", threshold)
    assert alarm["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"
    assert "Dimensions" not in alarm
    assert alarm["TreatMissingData"] == "ignore"
    assert alarm["AlarmActions"] == ["{Alarms}"]
    assert "gazette suppression list" in alarm["AlarmDescription"]
    assert "--stage prod" in alarm["AlarmDescription"]
    assert len(alarm["AlarmDescription"]) <= 1024


def test_each_stage_has_a_service_of_its_own(prod: Synthesis, local: Synthesis) -> None:
    named = {
        function["Environment"]["Variables"]["POWERTOOLS_SERVICE_NAME"]
        for stage in (prod, local)
        for function in stage.service.of_type("AWS::Lambda::Function").values()
    }
    assert named == {"gazette-prod", "gazette-local"}


@pytest.mark.parametrize("counted", COUNTED, ids=lambda counted: counted.name)
def test_what_is_counted_is_what_some_function_counts(prod: Synthesis, counted: Counted) -> None:
    (alarm,) = (
        alarm
        for alarm in prod.service.of_type("AWS::CloudWatch::Alarm").values()
        if alarm["MetricName"] == counted.metric
    )
    assert alarm["AlarmActions"] == ["{Alarms}"]
    assert "prod" in alarm["AlarmDescription"]
    assert len(alarm["AlarmDescription"]) <= 1024
    known = {f"swept_{swept}" for swept in Swept}
    known |= {"brake_pulled", "category_braked", "events_expired", "late_shards", "page_failed"}
    assert counted.metric in known
