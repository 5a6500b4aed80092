"""Alarms on metrics: they watch what functions count."""

import re
from dataclasses import fields
from pathlib import Path

import gazette
import pytest
from gazette import run_metrics
from gazette.adapters.dynamodb.runs import PARTITIONS
from gazette.domain.delivery.run import Status
from gazette.domain.outcome import Outcome
from gazette.steps.delivery.types import EventCounts
from gazette.steps.sweep.unknown import Swept

from gazette_cdk.constructs.watching.counted import COUNTED, Counted
from gazette_cdk.constructs.watching.heartbeats import HEARTBEATS, SWEPT, Heartbeat
from gazette_cdk.constructs.watching.shares import RATES, SHARES, Rate, Share
from gazette_cdk.stage import Stage
from tests.infra.conftest import RUNBOOK
from tests.infra.synthesis import Properties, Synthesis
from tests.unit.house.test_metrics_page import documented

ROOT = Path(__file__).parents[2]
_REPORTING = Path(gazette.__file__).parent / "run_metrics.py"


@pytest.fixture
def alarm(prod: Synthesis) -> Properties:
    """The one that watches the circuit breaker."""
    (found,) = (
        alarm
        for alarm in prod.service.of_type("AWS::CloudWatch::Alarm").values()
        if alarm.get("MetricName") == "breaker_opened"
    )
    return found


def test_circuit_breaker_has_an_alarm_with_an_action(
    alarm: Properties,
) -> None:
    assert alarm["AlarmName"] == "gazette-prod-breaker-opened"
    assert alarm["AlarmActions"] == ["{Alarms}"]


def test_account_refusal_keeps_the_alarm_firing_for_an_hour(alarm: Properties) -> None:
    """A probe goes every half hour at least: so it does not fire anew each time."""
    assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("GreaterThanThreshold", 0)
    assert (alarm["Statistic"], alarm["TreatMissingData"]) == ("Sum", "notBreaching")
    assert alarm["DatapointsToAlarm"] == 1
    assert alarm["Period"] * alarm["EvaluationPeriods"] == 3600


def test_circuit_breaker_alarm_watches_the_sending_functions_of_the_stage(
    alarm: Properties, prod: Synthesis
) -> None:
    for step in ("generate", "resend"):
        _, function = prod.function(step)
        service = function["Environment"]["Variables"]["POWERTOOLS_SERVICE_NAME"]
        assert alarm["Dimensions"] == [{"Name": "service", "Value": service}]
    assert f'count("{alarm["MetricName"]}")' in _REPORTING.read_text()


def test_circuit_breaker_alarm_describes_cause_and_remedy(alarm: Properties) -> None:
    text = alarm["AlarmDescription"]
    assert "rejects all digests, all immediate email, or both" in text
    assert "`gazette sending status --stage prod`" in text
    assert "`gazette sending resume --stage prod`" in text
    assert len(text) <= 1024


@pytest.mark.parametrize(
    ("metric", "threshold"),
    [("Reputation.BounceRate", 0.05), ("Reputation.ComplaintRate", 0.001)],
)
def test_reputation_alarms_fire_at_the_ses_review_thresholds(
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


def test_each_stage_has_a_separate_metrics_service_name(prod: Synthesis, local: Synthesis) -> None:
    named = {
        function["Environment"]["Variables"]["POWERTOOLS_SERVICE_NAME"]
        for stage in (prod, local)
        for function in stage.service.of_type("AWS::Lambda::Function").values()
    }
    assert named == {"gazette-prod", "gazette-local"}


@pytest.mark.parametrize("counted", COUNTED, ids=lambda counted: counted.name)
def test_alarm_metric_is_written_by_a_function(asking: Synthesis, counted: Counted) -> None:
    (alarm,) = (
        alarm
        for alarm in asking.service.of_type("AWS::CloudWatch::Alarm").values()
        if alarm.get("MetricName") == counted.metric
    )
    assert alarm["AlarmActions"] == ["{Alarms}"]
    assert "prod" in alarm["AlarmDescription"]
    assert len(alarm["AlarmDescription"]) <= 1024
    known = {f"swept_{swept}" for swept in Swept} | {f"ingest_{each}" for each in Outcome}
    known |= {f"run_{status}" for status in Status if status.is_final}
    known |= {f"events_{each.name}" for each in fields(EventCounts)}
    for folder in (ROOT / "functions", ROOT / "layers" / "gazette"):
        for source in folder.rglob("*.py"):
            known.update(re.findall(r"\bcount\(\s*\"([a-z_]+)\"", source.read_text()))
    assert counted.metric in known


def test_forgotten_event_alarm_fires_and_refers_to_the_log_message(
    prod: Synthesis,
) -> None:
    alarm = prod.service.of_type("AWS::CloudWatch::Alarm")["EventsForgotten"]
    assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("GreaterThanThreshold", 0)
    assert (alarm["Statistic"], alarm["TreatMissingData"]) == ("Sum", "notBreaching")
    assert (alarm["Period"], alarm["EvaluationPeriods"], alarm["DatapointsToAlarm"]) == (60, 5, 1)
    assert alarm["Dimensions"] == [{"Name": "service", "Value": "gazette-prod"}]
    metrics = Path(run_metrics.__file__).read_text()
    assert f'count("{alarm["MetricName"]}", ' in metrics
    (logged,) = re.findall(r"\(`(.+?)`\)", alarm["AlarmDescription"])
    assert f'"{logged}"' in metrics


def test_attack_event_of_an_unauthorized_source_fires_a_separate_alarm(
    prod: Synthesis,
) -> None:
    """Also while something waits in the quarantine: its alarm is on then, and tells nothing new."""
    alarm = prod.service.of_type("AWS::CloudWatch::Alarm")["EventsForeign"]
    assert alarm["MetricName"] == "ingest_foreign"
    assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("GreaterThanThreshold", 0)
    assert (alarm["Statistic"], alarm["TreatMissingData"]) == ("Sum", "notBreaching")
    assert (alarm["Period"], alarm["EvaluationPeriods"], alarm["DatapointsToAlarm"]) == (60, 5, 1)
    assert alarm["Dimensions"] == [{"Name": "service", "Value": "gazette-prod"}]
    for what in ("`gazette quarantine list --stage prod`", "setting sources", "events:PutEvents"):
        assert what in alarm["AlarmDescription"]


@pytest.mark.parametrize("share", SHARES, ids=lambda share: share.name)
def test_ratio_alarm_uses_metrics_of_the_same_stage(prod: Synthesis, share: Share) -> None:
    alarm = prod.service.of_type("AWS::CloudWatch::Alarm")[share.name.title().replace("-", "")]
    by_id = {metric["Id"]: metric for metric in alarm["Metrics"]}
    counted = {each: by_id[each]["MetricStat"] for each in ("part", "whole")}
    for name, metric in (("part", share.part), ("whole", share.whole)):
        assert metric in documented()
        assert counted[name] == {
            "Metric": {
                "Dimensions": [{"Name": "service", "Value": "gazette-prod"}],
                "MetricName": metric,
                "Namespace": "Gazette",
            },
            "Period": 3600,
            "Stat": "Sum",
        }
    assert alarm["AlarmName"] == f"gazette-prod-{share.name}"
    assert alarm["AlarmActions"] == ["{Alarms}"]
    assert len(alarm["AlarmDescription"]) <= 1024


def test_policy_refusal_alarm_fires_at_five_percent(prod: Synthesis) -> None:
    alarm = prod.service.of_type("AWS::CloudWatch::Alarm")["RefusedByPolicy"]
    (expression,) = (each["Expression"] for each in alarm["Metrics"] if "Expression" in each)
    assert expression == "IF(part >= 20, part / whole, 0)"
    assert alarm["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"
    assert (alarm["Threshold"], alarm["EvaluationPeriods"]) == (0.05, 1)
    assert alarm["TreatMissingData"] == "notBreaching"
    for where in ("SPF", "DKIM", "DMARC", "block lists", "gazette-prod-feedback"):
        assert where in alarm["AlarmDescription"]


def test_each_alarm_has_a_runbook_page_that_starts_with_its_name(
    prod: Synthesis,
) -> None:
    """Several alarms may share a page: then its first paragraph names them all."""
    for alarm in prod.service.of_type("AWS::CloudWatch::Alarm").values():
        page = re.search(r" See (docs/runbook/[a-z-]+\.md)\.$", alarm["AlarmDescription"])
        assert page, alarm["AlarmName"]
        name = alarm["AlarmName"].removeprefix("gazette-prod-")
        title, first, *_ = (ROOT / page[1]).read_text().split("\n\n")
        assert title == f"# {name}" or f"`{name}`" in first, name


def test_alarm_text_ends_with_the_page_address_if_the_runbook_is_online(
    varied: Synthesis, prod: Synthesis
) -> None:
    """A long one: the text of an alarm has 1,024 characters at most."""
    told = prod.service.of_type("AWS::CloudWatch::Alarm")
    alarms = varied.service.of_type("AWS::CloudWatch::Alarm")
    assert alarms.keys() == told.keys()
    for name, alarm in alarms.items():
        page = re.search(r" See docs/runbook(/[a-z-]+\.md)\.$", told[name]["AlarmDescription"])
        assert page, name
        assert alarm["AlarmDescription"].endswith(f" See {RUNBOOK}{page[1]}"), name
        assert "docs/runbook" not in alarm["AlarmDescription"], name
        assert len(alarm["AlarmDescription"]) <= 1024, name


@pytest.mark.parametrize(
    "alarm", [*COUNTED, *HEARTBEATS, *RATES, *SHARES], ids=lambda alarm: alarm.name
)
def test_alarm_text_describes_the_remedy(alarm: Counted | Heartbeat | Rate | Share) -> None:
    assert " What to do: " in alarm.meaning


def test_every_alarm_notifies_start_and_end_and_states_its_urgency(
    prod: Synthesis,
) -> None:
    """By the first word of its text, which a pager's filter reads."""
    for alarm in prod.service.of_type("AWS::CloudWatch::Alarm").values():
        assert alarm["AlarmActions"] == alarm["OKActions"] == ["{Alarms}"], alarm["AlarmName"]
        assert re.match(r"(NOW|MORNING): [A-Z]", alarm["AlarmDescription"]), alarm["AlarmName"]
        assert len(alarm["AlarmDescription"]) <= 1024, alarm["AlarmName"]


@pytest.mark.parametrize("heartbeat", HEARTBEATS, ids=lambda heartbeat: heartbeat.name)
def test_silence_of_the_clock_has_an_alarm(prod: Synthesis, heartbeat: Heartbeat) -> None:
    alarm = prod.service.of_type("AWS::CloudWatch::Alarm")[heartbeat.name.title().replace("-", "")]
    assert heartbeat.metric in documented()
    assert (alarm["Statistic"], alarm["TreatMissingData"]) == ("Sum", "breaching")
    assert alarm["ComparisonOperator"] == "LessThanThreshold"
    assert alarm["Threshold"] == heartbeat.least(Stage(name="s", sender="s@s.example", list_id="s"))
    assert SWEPT == PARTITIONS


def test_account_concurrency_alarm_covers_usage_and_setting(
    prod: Synthesis, local: Synthesis
) -> None:
    """Also where the engine has no metric math."""
    for template in (prod, local):
        alarm = template.service.of_type("AWS::CloudWatch::Alarm")["ConcurrencyNearlyUsedUp"]
        assert (alarm["Namespace"], alarm["Statistic"]) == ("AWS/Lambda", "Maximum")
        assert alarm["MetricName"] == "ClaimedAccountConcurrency"
        assert "Dimensions" not in alarm
        stage = Stage(name="s", sender="s@s.example", list_id="s")
        assert alarm["Threshold"] == 0.9 * stage.account_concurrency


def test_stage_without_a_clock_has_no_silence_alarms(prod: Synthesis, local: Synthesis) -> None:
    beats = {heartbeat.metric for heartbeat in HEARTBEATS}
    in_prod, in_local = (
        {alarm.get("MetricName") for alarm in alarms.values()}
        for alarms in (each.service.of_type("AWS::CloudWatch::Alarm") for each in (prod, local))
    )
    assert in_prod >= beats
    assert not in_local & beats
