"""Requests of services to the API, as the HTTP API passes them on, and the API on fakes."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

from gazette.adapters.api.reads import Reads, add_reads
from gazette.adapters.api.resolver import Answer, new_resolver, resolve
from gazette.adapters.api.writes import Writes, add_writes
from gazette.adapters.web.links import SignedLinks
from gazette.domain.links import read_keys
from gazette.domain.ports.stores import Suppressions
from gazette.steps.api.app_link import app_link
from gazette.steps.api.choices import ChoiceContext, choose
from gazette.steps.api.consents import ConsentContext, state_consent
from gazette.steps.api.delivery_events import IntakeContext, submit_delivery_event
from gazette.steps.api.emails import list_emails
from gazette.steps.api.reader import ReaderContext, read_reader
from gazette.steps.support.activity_receipt import activity_receipt
from gazette.steps.support.export import export_page
from gazette.steps.support.receipt import receipt

from tests.fakes import FakeIntake
from tests.personal_rows import WorldRows
from tests.receipts import receipt_context
from tests.world import World

KEYS = read_keys(json.dumps({"k1": "k" * 64}))
CALLER = "arn:aws:sts::123456789012:assumed-role/shop/backend"
BASE_URL = "https://mail.example.com"


def request(
    method: str,
    path: str,
    body: object = None,
    *,
    content_type: str = "application/json",
    **query: Any,
) -> dict[str, Any]:
    """Return an event of the HTTP API. A body that is not text is sent as JSON."""
    text = body if isinstance(body, str | None) else json.dumps(body)
    asked = {name: str(value) for name, value in query.items()}
    return {
        "version": "2.0",
        "routeKey": f"{method} {path}",
        "rawPath": path,
        "rawQueryString": urlencode(asked, quote_via=quote),
        "queryStringParameters": asked,
        "headers": {"content-type": content_type} if text is not None else {},
        "requestContext": {
            "authorizer": {"iam": {"userArn": CALLER, "accountId": "123456789012"}},
            "http": {"method": method, "path": path, "sourceIp": "203.0.113.1"},
            "stage": "$default",
            "requestId": "r",
        },
        "body": text,
        "isBase64Encoded": False,
    }


def content(answer: Answer) -> Any:
    """Return the JSON of an answer."""
    return json.loads(answer["body"])


class Context:
    """The context of an invocation."""

    @staticmethod
    def get_remaining_time_in_millis() -> int:
        return 20_000


@dataclass
class Services:
    """The API on the fakes of a world, with both functions in one."""

    world: World
    reports: list[Exception] = field(default_factory=list)
    intake: FakeIntake = field(default_factory=FakeIntake)
    suppressions: Callable[[], Suppressions] | None = None
    """A function that returns the suppressions instead of those of the world."""

    def __post_init__(self) -> None:
        self.app = new_resolver(self.reports.append)
        add_reads(self.app, self._reads())
        reader = partial(read_reader, context=reader_context(self.world))
        choices = ChoiceContext(
            routing=self.world.context, bus=self.world.bus, announce=lambda: None
        )
        consents = ConsentContext(
            schedules=self.world.context,
            suppressions=self.suppressions or (lambda: self.world.suppressions),
            announce=lambda: None,
        )
        intake = IntakeContext(intake=self.intake, clock=self.world.clock)
        add_writes(
            self.app,
            Writes(
                choose=partial(choose, context=choices),
                reader=reader,
                state_consent=partial(state_consent, context=consents),
                submit_delivery_event=partial(submit_delivery_event, context=intake),
                report=self.reports.append,
            ),
        )

    def send(self, event: dict[str, Any]) -> Answer:
        """Answer an event of the HTTP API."""
        return resolve(self.app, event, Context())

    def get(self, path: str, **query: Any) -> Answer:
        """Answer a GET request."""
        return self.send(request("GET", path, **query))

    def choose(self, user_id: str = "ann", **body: object) -> Answer:
        """Answer a request to patchChoices, with the present time if no other is given."""
        body = {"chosen_at": self.world.clock().isoformat(), **body}
        return self.send(request("PATCH", "/v1/subscriber/choices", body, user_id=user_id))

    def give_back(self, user_id: str = "ann", **body: object) -> Answer:
        """Answer a request to returnSubscriber, with the address of Ann and the present time if no
        other is given.
        """
        body = {
            "email": "ann@example.com",
            "consented_at": self.world.clock().isoformat(),
            **body,
        }
        return self.send(request("POST", "/v1/subscriber/return", body, user_id=user_id))

    def report_delivery(self, body: object) -> Answer:
        """Answer a request to reportDeliveryEvent."""
        return self.send(request("POST", "/v1/delivery-event", body))

    def _reads(self) -> Reads:
        world = self.world
        return Reads(
            reader=partial(read_reader, context=reader_context(world)),
            emails=partial(
                list_emails,
                subscribers=world.subscribers,
                runs=world.runs,
                engagements=world.engagements,
            ),
            receipt=partial(receipt, context=receipt_context(world)),
            activity=partial(activity_receipt, activities=world.activities),
            followers=world.follows.count_followers,
            link=partial(
                app_link,
                subscribers=world.subscribers,
                links=SignedLinks(base_url=BASE_URL, keys=lambda: KEYS),
                clock=world.clock,
            ),
            export=partial(export_page, rows=WorldRows(world)),
        )


def reader_context(world: World) -> ReaderContext:
    """Return the dependencies for reading the state of a reader."""
    return ReaderContext(
        subscribers=world.subscribers,
        follows=world.follows,
        schedules=world.schedules,
        runs=world.runs,
        events=world.events,
        withdrawals=world.withdrawals.current,
        clock=world.clock,
        defaults=world.defaults,
        quiet_hours=world.quiet_hours,
        critical=world.critical,
        sunset=world.sunset,
        content=True if world.content else None,
        categories=("comment", "like", "recommendation"),
    )


DAY = timedelta(days=1)
