"""The console, as the support page meets it: it calls functions, and presses buttons."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from gazette.adapters.aws.dead_letters import queues
from gazette.bootstrap.console.shared import LOOKS
from gazette.domain.dead_letters import KNOWN

from tests.functions.cli.test_dead_letters import FETCH, Sqs
from tests.functions.conftest import Cloud, fan_out, make_cold
from tests.functions.failing import dead_letter, refused_to_the_end
from tests.functions.messages import delivery_event, envelope, event, follow, profile
from tests.unit.console.pages import Action, Parsed

SHARD = {"shard": 3, "since": "2026-11-22T06:10:00+00:00", "until": "2026-11-22T06:20:00+00:00"}
FOLLOWERS = {"entity": "post#p1", "activity_id": "a1", "side": "post#p1", "after": ""}
BODIES = {
    "ingest": envelope("event.created", {}),
    "followers": json.dumps(FOLLOWERS),
    "shard": json.dumps(SHARD),
    "sweep": '{"partition": 5}',
    "feedback": delivery_event(),
    "content": json.dumps(FETCH),
}


@dataclass
class Widget:
    """The widget of a dashboard. `fields` are those of its forms."""

    cloud: Cloud
    fields: dict[str, str] = field(default_factory=dict)

    def refresh(self) -> Parsed:
        """Call the function with the parameters of the widget, which has none.

        A refresh, a change of the size and one of the time range do the same.
        """
        return self.call(LOOKS, {})

    def story(self) -> Parsed:
        """Call the function with the parameters of the widget on top of the main dashboard."""
        return self.call(LOOKS, {"view": "story"})

    def press(self, action: Action) -> Parsed:
        """Call the function of a button."""
        function = action.attributes["endpoint"].split(":")[6].removeprefix("gazette-prod-")
        return self.call(function, action.parameters)

    def plan(self, **chosen: str) -> Parsed:
        """Press a button of the first page that shows a plan."""
        return self.press(button(self.refresh(), do="plan", **chosen))

    def redrive(self, **chosen: str) -> Parsed:
        """Press a button that shows a plan, and then the button that redrives."""
        return self.press(button(self.plan(**chosen), do="redrive"))

    def ask(self, question: str, **fields: str) -> Parsed:
        """Fill in the form, and press one of its buttons."""
        self.fields = fields
        return self.press(button(self.refresh(), do=question))

    def call(self, function: str, parameters: dict[str, str]) -> Parsed:
        """Invoke a function as the console does."""
        context = {"theme": "light", "forms": {"all": self.fields}, "params": {}}
        html: Any = self.cloud.invoke(function, {**parameters, "widgetContext": context})
        assert isinstance(html, str)
        return Parsed(html)


def button(page: Parsed, **parameters: str) -> Action:
    """The first button with these parameters."""
    return next(each for each in page.actions if parameters.items() <= each.parameters.items())


def stage_queues(cloud: Cloud) -> Sqs:
    """The queues of the stage `prod`, with its quarantine."""
    with cloud.meter.acting("somebody else"):
        sqs = Sqs()
        made = sqs.client.create_queue(QueueName="gazette-prod-quarantine")
        sqs.urls["quarantine"] = made["QueueUrl"]
    return sqs


def put(cloud: Cloud, sqs: Sqs, name: str, *bodies: str) -> None:
    """Put messages into a queue of the stage."""
    with cloud.meter.acting("somebody else"):
        sqs.put(name, *bodies)


def a_message(cloud: Cloud, user_id: str = "ann") -> str:
    """The message of a run that can be sent."""
    cloud.say("subscriber.changed", profile(user_id))
    cloud.say("event.created", event(1, user_id=user_id))
    return next(body for body in fan_out(cloud, user_id) if user_id in body)


def support_of_every_kind(cloud: Cloud) -> None:
    """Show and redrive messages of every queue, and ask every question.

    The run of one reader is sent, and the attempts of the run of another reader are exhausted.
    """
    cloud.say("subscriber.changed", profile("zed"))
    cloud.say("follow.created", follow("zed"))
    cloud.work("generate", a_message(cloud, "zed"))
    failed = a_message(cloud, "zac")
    with cloud.meter.acting("somebody else"):
        refused = dead_letter(refused_to_the_end(failed))
    sqs, widget = stage_queues(cloud), Widget(cloud)
    for dead in KNOWN:
        if dead.is_optional:
            continue
        body = refused if dead.names_runs else BODIES.get(dead.source or "", "{}")
        put(cloud, sqs, dead.name, body)
    put(cloud, sqs, "quarantine", BODIES["ingest"], BODIES["feedback"])
    widget.story()
    for question in ("explain", "receipt", "run"):
        widget.ask(question, user="zed", event="e1", run="zed-daily-1")
    widget.ask("receipt", user="zac", event="e1")
    widget.fields = {"selected-date": "2026-11-22"}
    widget.press(button(widget.refresh(), by="form"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(queues, "POLL", 0)
        assert "11 of 11 moved." in widget.redrive(queue="all").text
        order = button(widget.plan(queue="quarantine"), do="redrive")
        put(cloud, sqs, "quarantine", "later")
        assert "2 of 3 moved." in widget.press(order).text
        patch.setenv("GAZETTE_CONTENT_SOURCES", '["events", "recommendations"]')
        make_cold()
        put(cloud, sqs, "content-dead", BODIES["content"])
        assert "1 of 1 moved." in widget.redrive(queue="content-dead").text
    make_cold()
