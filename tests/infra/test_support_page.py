"""The support page in the templates: its widget, its functions, and the policies of its docs."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from gazette.adapters.console.story import VIEW

from proofs.enforce.policies import Request, allowing, read
from tests.infra.synthesis import Synthesis
from tests.infra.test_dashboard import widgets

PAGE = Path(__file__).parents[2] / "docs/support.md"
FUNCTIONS = ("support", "support_redrive")
PLACE = "arn:aws:lambda:eu-central-1:123456789012:function:gazette-prod"


def policy(name: str) -> dict[str, Any]:
    """A policy of docs/support.md for the stage `prod`."""
    (text,) = re.findall(
        rf"<!-- policy: {name} -->\n\n```json\n(.*?)```", PAGE.read_text(), re.DOTALL
    )
    document: dict[str, Any] = json.loads(text.replace("<stage>", "prod"))
    return document


def support_widget(prod: Synthesis) -> dict[str, Any]:
    """The only widget of the dashboard of the support page."""
    dashboards = prod.service.of_type("AWS::CloudWatch::Dashboard").values()
    (dashboard,) = (each for each in dashboards if each["DashboardName"] == "gazette-prod-support")
    (widget,) = json.loads(dashboard["DashboardBody"])["widgets"]
    return dict(widget)


def test_widget_calls_the_looking_function_on_refresh_only(prod: Synthesis) -> None:
    widget = support_widget(prod)
    assert widget["type"] == "custom"
    properties = widget["properties"]
    assert properties["updateOn"] == {"refresh": True, "resize": False, "timeRange": False}
    assert "params" not in properties
    assert prod.live("support") in json.dumps(properties["endpoint"])


def test_story_is_first_on_the_dashboard_and_calls_only_the_looking_function(
    prod: Synthesis,
) -> None:
    first, *others = widgets(prod)
    assert (first["type"], first["x"], first["y"], first["width"]) == ("custom", 0, 0, 24)
    assert "custom" not in {each["type"] for each in others}
    assert min(each["y"] for each in others) == first["height"]
    properties = first["properties"]
    assert properties["updateOn"] == {"refresh": True, "resize": False, "timeRange": False}
    assert properties["params"] == {"view": VIEW}
    assert prod.live("support") in json.dumps(properties["endpoint"])
    assert properties["endpoint"] == support_widget(prod)["properties"]["endpoint"]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_only_one_function_may_move_messages(prod: Synthesis, function: str) -> None:
    actions = {grant.action for grant in prod.grants(function)}
    moves = {"sqs:DeleteMessage", "sqs:SendMessage"}
    assert (moves & actions == moves) is (function == "support_redrive")
    assert bool(moves & actions) is (function == "support_redrive")
    writes = {each for each in actions if re.search("Put|Update|Delete|Write|Send", each)}
    assert writes - moves == {"logs:PutLogEvents"}
    secrets = [each for each in prod.grants(function) if each.action.startswith("secrets")]
    assert len(secrets) == (2 if function == "support_redrive" else 1)


@pytest.mark.parametrize(
    ("names", "may"),
    [(("look",), {"support"}), (("look", "redrive"), {"support", "support_redrive"})],
)
def test_policies_of_the_page_separate_looking_from_redriving(
    names: tuple[str, ...], may: set[str]
) -> None:
    grants = [grant for name in names for grant in read("person", policy(name))]
    for function in (*FUNCTIONS, "generate"):
        for alias in (":live", "", ":17"):
            request = Request(
                "person", "lambda:InvokeFunction", f"{PLACE}-{function}{alias}", frozenset()
            )
            assert bool(allowing(request, grants)) is (function in may and alias == ":live")
