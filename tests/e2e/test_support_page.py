"""The functions of the support page as deployed, called as CloudWatch calls them."""

import json
from typing import Any

from gazette.adapters.console.overview import EFFECTS
from gazette.settings.environment import LIVE
from gazette.steps.support.words.commands import on_page

from tests.e2e.test_redriving import REFUSED, end_the_pause, wait_for_refusals
from tests.functions.supporting import button
from tests.functions.test_same_answers import Tables
from tests.stage import Deployed, a_comment, a_profile, next_due
from tests.unit.console.pages import Action, Parsed


def call(deployed: Deployed, arn: str, parameters: dict[str, str], **fields: str) -> Parsed:
    """Invoke a function with the event of a custom widget.

    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/add_custom_widget_dashboard_about.html
    """
    context = {
        "dashboardName": "gazette-local-support",
        "widgetId": "widget-16",
        "locale": "en",
        "timezone": {"label": "UTC", "offsetISO": "+00:00", "offsetInMinutes": 0},
        "period": 300,
        "isAutoPeriod": True,
        "timeRange": {"mode": "relative", "start": 1, "end": 2, "relativeStart": 10_800_000},
        "theme": "light",
        "linkCharts": True,
        "title": "",
        "forms": {"all": fields},
        "params": {},
        "width": 1200,
        "height": 900,
    }
    answer = deployed.service.functions.invoke(
        FunctionName=arn, Payload=json.dumps({**parameters, "widgetContext": context})
    )
    html = json.loads(answer["Payload"].read())
    assert "FunctionError" not in answer, html
    return Parsed(html)


def press(deployed: Deployed, action: Action, **fields: str) -> Parsed:
    return call(deployed, action.attributes["endpoint"], action.parameters, **fields)


def first_page(deployed: Deployed) -> Parsed:
    """Refresh the widget, whose endpoint is the ARN of the alias."""
    alias = deployed.service.functions.get_alias(FunctionName="gazette-local-support", Name=LIVE)
    return call(deployed, alias["AliasArn"], {})


def let_the_message_die(deployed: Deployed, user: str) -> None:
    """Move the message of a run that the provider refused to the dead-letter queue."""
    service = deployed.service
    wait_for_refusals(deployed, user, 1)
    end_the_pause(deployed, user, queue="resend-dead")
    assert service.messages_in("resend") == 0


def documents(deployed: Deployed, *arguments: str) -> Any:
    return json.loads(deployed.gazette(*arguments, "--json"))


def test_deployed_page_answers_as_the_command_and_redrives_once(deployed: Deployed) -> None:
    service = deployed.service
    service.put("subscriber.changed", [a_profile("lou")])
    service.put("event.created", [a_comment("lou", 1)])
    deployed.settle()
    deployed.ses.script.extend([REFUSED] * 4)  # the request for the quota takes one as well
    deployed.tick(next_due())
    deployed.ses.script.clear()
    assert not deployed.inbox("lou")
    let_the_message_die(deployed, "lou")

    shown = first_page(deployed)
    (letter,) = documents(deployed, "dlq", "show", "resend-dead")["dead_letters"]
    (row,) = Tables(shown.html).of("resend-dead:")
    assert (row[0], row[3]) == (
        "lou-daily-1",
        f"{EFFECTS[letter['redrive']]}: {on_page(letter['why'])}",
    )
    assert letter["redrive"] == "sends"
    assert "/aws/lambda/gazette-local-resend" in shown.texts
    assert 'correlation_id = "lou-daily-1"' in row[4]
    assert len(shown.html.encode()) < 200_000

    asked = {"user": "lou", "event": a_comment("lou", 1)["id"], "run": "lou-daily-1"}
    explained = press(deployed, button(shown, do="explain"), **asked)
    answer = documents(deployed, "explain", "lou")["answer"]
    assert explained.texts[0] == "Reader lou"
    assert "failed and is in resend-dead" in explained.text
    others = [on_page(each) for each in answer if "The latest run" not in each]
    assert {*others} <= {*explained.texts}
    receipt = press(deployed, button(shown, do="receipt"), **asked)
    assert receipt.texts[1:] == [
        on_page(each)
        for each in documents(deployed, "receipt", asked["event"], "--user", "lou")["answer"]
    ]
    run = press(deployed, button(shown, do="run"), **asked)
    (found,) = documents(deployed, "find", "lou-daily-1")["found"]
    assert [found["status"], found["reason"]] == [
        row[1] for row in Tables(run.html).of("Run") if row[0] in {"Status", "Reason"}
    ]

    plan = press(deployed, button(shown, do="plan", run="lou-daily-1"))
    ((queue, *numbers, effects),) = Tables(plan.html).of("Effects of a redrive")
    assert (queue, numbers, effects) == (
        *("resend-dead", ["1", "1", "1"], f"1 {EFFECTS['sends']}"),
    )
    assert service.messages_in("resend-dead") == 1
    order = button(plan, do="redrive")
    assert "1 moved." in press(deployed, order).text
    service.wait_until_drained("resend")
    assert "0 moved." in press(deployed, order).text
    first_page(deployed)
    service.wait_until_drained("resend")
    (mail,) = deployed.inbox("lou")
    assert mail.tags["run"] == "lou-daily-1"
    assert service.messages_in("resend-dead") == service.messages_in("failed") == 0
