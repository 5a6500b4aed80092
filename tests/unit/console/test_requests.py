"""Requests of the widget: events of any form are read without an error."""

from typing import Any

import pytest
from gazette.adapters.console.requests import arn_of, read_widget

from tests.unit.console.pages import ARN, REDRIVE_ARN


def test_button_and_form_are_read() -> None:
    context = {"theme": "dark", "forms": {"all": {"user": " ann ", "odd": 3}}}
    request = read_widget({"do": "explain", "queue": "failed", "widgetContext": context}, ARN)
    assert (request.do, request.theme) == ("explain", "dark")
    assert (request.value("user"), request.value("queue"), request.value("odd")) == (
        *("ann", "failed", ""),
    )


def test_parameter_precedes_the_field_of_the_same_name() -> None:
    context = {"forms": {"all": {"run": "bo-daily-1"}}}
    request = read_widget({"run": "ann-daily-1", "widgetContext": context}, ARN)
    assert request.value("run") == "ann-daily-1"


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"widgetContext": None},
        {"widgetContext": {"forms": []}},
        {"widgetContext": {"forms": {"all": "x"}, "theme": 3}},
        {"do": {"a": 1}, "widgetContext": {"forms": {"all": {"user": "x" * 5000}}}},
    ],
)
def test_odd_events_are_requests_without_an_action(event: dict[str, Any]) -> None:
    request = read_widget(event, ARN)
    assert (request.do, request.theme, request.value("user")) == ("", "light", "")


def test_other_function_has_the_same_alias() -> None:
    assert arn_of("gazette-prod-support_redrive", ARN) == REDRIVE_ARN
    assert arn_of("gazette-prod-support", REDRIVE_ARN) == ARN


def test_console_requests_the_documentation() -> None:
    assert read_widget({"describe": True}, ARN).describes
