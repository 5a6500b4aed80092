"""The dashboard: three questions, from the metrics of docs/metrics.md."""

import json
from typing import Any

from gazette_cdk.constructs.watching.panels import MOST, PANELS, table
from tests.infra.synthesis import Synthesis
from tests.unit.house.test_metrics_page import PAGE, documented


def widgets(template: Synthesis) -> list[dict[str, Any]]:
    """What the stage's dashboard consists of, in order."""
    dashboards = template.service.of_type("AWS::CloudWatch::Dashboard").values()
    (found,) = (each for each in dashboards if each["DashboardName"] == f"gazette-{template.stage}")
    shown: list[dict[str, Any]] = json.loads(found["DashboardBody"])["widgets"]
    return shown


def graph(template: Synthesis, title: str) -> dict[str, Any]:
    (found,) = (
        each["properties"] for each in widgets(template) if each["properties"].get("title") == title
    )
    return dict(found)


def labels(template: Synthesis, title: str) -> set[str]:
    return {metric[-1]["label"] for metric in graph(template, title)["metrics"]}


def test_each_dashboard_question_describes_the_warning_signs(prod: Synthesis) -> None:
    texts = [each["properties"]["markdown"] for each in widgets(prod) if each["type"] == "text"]
    assert [text.splitlines()[0] for text in texts] == [f"## {each}" for each in PANELS]
    for text, panels in zip(texts, PANELS.values(), strict=True):
        for panel in panels:
            assert (panel.worry in text) is not (panel.tracked or panel.asks_source)


def test_dashboard_uses_documented_metrics_of_the_stage(prod: Synthesis) -> None:
    own = {name for panels in PANELS.values() for panel in panels for name, _ in panel.own}
    assert own <= documented()
    shown = [
        metric
        for each in widgets(prod)
        for metric in each["properties"].get("metrics", ())
        if metric[0] == "Gazette"
    ]
    assert {metric[1] for metric in shown} <= own
    assert len(shown) > len(own) / 2
    for metric in shown:
        assert metric[2:4] == ["service", "gazette-prod"]


def test_dashboard_shows_every_queue_with_a_function_and_every_alarm(prod: Synthesis) -> None:
    fed = {f"gazette-prod-{each}" for each in labels(prod, "Waiting messages")}
    emptied = prod.service.of_type("AWS::Lambda::EventSourceMapping").values()
    queues = prod.service.of_type("AWS::SQS::Queue")
    assert fed == {
        queues[each["EventSourceArn"].strip("{}").removesuffix(".Arn")]["QueueName"]
        for each in emptied
    }
    assert labels(prod, "Age of the oldest message (s)") == labels(prod, "Waiting messages")
    alarms = prod.service.of_type("AWS::CloudWatch::Alarm")
    assert set(graph(prod, "Alarms")["alarms"]) == {f"{{{name}.Arn}}" for name in alarms}


def test_dashboard_of_any_stage_has_at_most_the_metrics_of_a_free_one(
    prod: Synthesis, complete: Synthesis, tracking: Synthesis
) -> None:
    """No stage of the tests both tracks and has all functions: the panels are added."""
    least, functions, tracked = map(shown, (prod, complete, tracking))
    assert least < functions < functions + tracked - least <= MOST


def shown(template: Synthesis) -> int:
    """The number of lines of all graphs. Two statistics of a metric count twice."""
    return sum(len(each["properties"].get("metrics", ())) for each in widgets(template))


def test_alarm_tiles_of_the_largest_stage_fit_into_a_widget(complete: Synthesis) -> None:
    assert len(graph(complete, "Alarms")["alarms"]) <= 100


def test_dashboard_shows_opens_and_clicks_if_tracked(prod: Synthesis, tracking: Synthesis) -> None:
    for template, number in ((prod, 0), (tracking, 1)):
        titles = [each["properties"].get("title") for each in widgets(template)]
        assert titles.count("Opens and clicks") == number


def test_dashboard_can_be_disabled(bare: Synthesis) -> None:
    assert not bare.service.has("AWS::CloudWatch::Dashboard")


def test_dashboard_table_in_the_docs_is_current() -> None:
    assert table() in PAGE.read_text()
