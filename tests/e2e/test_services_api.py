"""The API for services behind the engine that enforces IAM: signatures, policies and ids.

The engine keeps no output of functions that the API invokes, so tests/functions/api looks for the
caller in the log.
"""

import json
import time
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit
from urllib.request import Request, urlopen

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from demo.engine import Engine, deploy, running
from demo.service import Service
from demo.ses import StandIn
from gazette_cdk.services import DELIVERY_EVENTS, READS, ROUTES, SETTINGS
from tests.e2e.test_enforced import change, client
from tests.stage import FEW, Deployed, a_comment, a_profile

pytestmark = pytest.mark.long

_REGION = "us-east-1"


class Caller:
    """An IAM user who may call the routes of some policies."""

    def __init__(self, deployed: Deployed, url: str, name: str, *policies: str) -> None:
        self._engine, self._host = deployed.engine, urlsplit(url).netloc
        iam = client(deployed.engine, "iam")
        iam.create_user(UserName=name)
        api = self._host.partition(".")[0]
        allowed = [
            f"arn:aws:execute-api:*:*:{api}/$default/{route.method}{route.path}"
            for route in ROUTES
            if route.policy in policies
        ]
        statement = {"Effect": "Allow", "Action": "execute-api:Invoke", "Resource": allowed}
        document = {"Version": "2012-10-17", "Statement": [statement]}
        iam.put_user_policy(UserName=name, PolicyName="own", PolicyDocument=json.dumps(document))
        key = iam.create_access_key(UserName=name)["AccessKey"]
        self._credentials = Credentials(key["AccessKeyId"], key["SecretAccessKey"])

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        is_signed: bool = True,
        is_broken: bool = False,
        **query: Any,
    ) -> tuple[int, Any]:
        """Return the status and the JSON of an answer."""
        asked = "&".join(f"{name}={quote(value, safe='')}" for name, value in query.items())
        url = f"http://{self._host}{path}?{asked}"
        data = None if body is None else json.dumps(body).encode()
        headers = {"host": self._host} | ({"content-type": "application/json"} if data else {})
        signed = AWSRequest(method, url, data=data, headers=headers)
        if is_signed:
            SigV4Auth(self._credentials, "execute-api", _REGION).add_auth(signed)
        sent = dict(signed.headers)
        if is_broken:
            sent["Authorization"] = sent["Authorization"][:-4] + "0000"
        to = url.replace(f"http://{self._host}", self._engine.url, 1)
        try:
            with urlopen(Request(to, data, sent, method=method), timeout=30) as answer:
                return answer.status, json.load(answer)
        except HTTPError as err:
            return err.code, json.loads(err.read() or b"{}")


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Deployed, str]]:
    """The stage with the API, on an engine that enforces IAM, and the address of the API."""
    folder = tmp_path_factory.mktemp("serving")
    with pytest.MonkeyPatch.context() as patch, StandIn() as ses:
        patch.setenv("AUTH", "true")
        with running(ses_url=ses.url, folder=folder) as engine:
            outputs = deploy(
                engine,
                folder,
                app="proofs.enforce.own_credentials",
                base_url=ses.url,
                concurrency=FEW,
                services_api={"requests_per_second": 50, "return": True},
            )
            _complete(engine)
            deployed = Deployed(engine, Service.at(engine, outputs), ses)
            deployed.service.put("subscriber.changed", [a_profile("ann")])
            deployed.service.put("event.created", [a_comment("ann", 1)])
            deployed.settle()
            yield deployed, outputs["ServicesUrl"]


def _complete(engine: Engine) -> None:
    """Complete the policies where the engine judges otherwise than AWS (test_enforced.py)."""
    secrets = client(engine, "secretsmanager")

    def complete(statement: dict[str, Any]) -> None:
        statement["Action"] += [
            f"{each}Batch" for each in statement["Action"] if each == "sqs:SendMessage"
        ]
        statement["Resource"] = [
            each
            if each == "*" or each.startswith("arn:")
            else secrets.describe_secret(SecretId=each)["ARN"]
            for each in statement["Resource"]
        ]

    change(client(engine, "iam"), complete)


@pytest.fixture(scope="module")
def shop(serving: tuple[Deployed, str]) -> Caller:
    """A backend of a settings page."""
    return Caller(*serving, "shop", READS, SETTINGS)


def test_settings_page_reads_and_changes_what_is_in_force(shop: Caller) -> None:
    status, found = shop.call("GET", "/v1/subscriber", user_id="ann")
    assert (status, found["status"]) == (200, "active"), found
    assert [each["events"] for each in found["waiting"]] == [1]
    body = {"chosen_at": _now(), "frequencies": {"comment": "never"}}
    status, found = shop.call("PATCH", "/v1/subscriber/choices", body, user_id="ann")
    assert status == 200, found
    assert {each["category"]: each["because"] for each in found["categories"]}["comment"] == (
        "chosen"
    )
    assert found["waiting"] == []
    status, found = shop.call("POST", "/v1/subscriber/link", user_id="ann")
    assert (status, "/preferences/" in found["url"]) == (200, True), found


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def test_unsigned_and_wrongly_signed_calls_are_rejected(shop: Caller) -> None:
    for route in ROUTES:
        for flags in ({"is_signed": False}, {"is_broken": True}):
            status, found = shop.call(route.method, route.path, user_id="ann", **flags)
            assert (status, "user_id" in found) == (403, False), (route, flags)


def test_caller_without_the_policy_of_a_route_is_rejected(serving: tuple[Deployed, str]) -> None:
    reader = Caller(*serving, "reader", READS)
    query: dict[str, Any] = {"user_id": "ann", "id": "1", "type": "post"}
    query |= {"entity_type": "post", "entity_id": "1"}
    for route in ROUTES:
        status, found = reader.call(route.method, route.path, **query)
        assert status == (200 if route.policy == READS else 403), (route, found)


def test_role_of_a_webhook_may_only_report_delivery_events(
    serving: tuple[Deployed, str],
) -> None:
    webhooks = Caller(*serving, "webhooks", DELIVERY_EVENTS)
    body = {
        "reference": f"ann-daily-1.1.{int(time.time())}.{'0' * 32}",
        "recipient": "ann@example.com",
        "type": "delivered",
        "at": _now(),
    }
    own = "/v1/delivery-event"
    assert webhooks.call("POST", own, body) == (202, {"email": "ann-daily-1", "type": "delivered"})
    status, found = webhooks.call("POST", own, {**body, "type": "dropped"})
    assert (status, found["errors"][0]["pointer"]) == (422, "#/type")
    for route in ROUTES:
        if route.path != own:
            status, found = webhooks.call(route.method, route.path, user_id="ann")
            assert (status, "user_id" in found) == (403, False), route


def test_unknown_routes_reach_no_function(shop: Caller) -> None:
    for method, path in (("GET", "/v1/other"), ("DELETE", "/v1/subscriber"), ("GET", "/")):
        status, found = shop.call(method, path, user_id="ann")
        assert status in {403, 404}
        assert "type" not in found


@pytest.mark.parametrize("user_id", ["".join(map(chr, range(0x21, 0x60))), "c/1?x=1&y=%2F#a+b,c"])
def test_each_character_of_an_id_arrives(shop: Caller, user_id: str) -> None:
    status, found = shop.call("GET", "/v1/event", user_id=user_id, id="e/1?a=b&c,d ä")
    assert (status, found["user_id"], found["id"]) == (200, user_id, "e/1?a=b&c,d ä"), found


def test_each_remaining_character_of_an_id_arrives(shop: Caller) -> None:
    user_id = "".join(map(chr, range(0x60, 0x7F)))
    status, found = shop.call("GET", "/v1/event", user_id=user_id, id="1")
    assert (status, found["user_id"]) == (200, user_id), found


def test_hostile_requests_get_problem_documents(shop: Caller) -> None:
    hostile: list[dict[str, Any]] = [
        {"user_id": "a b"},
        {"user_id": "a" * 65},
        {"user_id": "ann", "cursor": "x"},
        {"user_id": "ann", "limit": "1e9"},
    ]
    for query in hostile:
        status, found = shop.call("GET", "/v1/subscriber/emails", **query)
        assert (status, found["type"]) == (422, "docs/api.md#invalid-request"), query
    status, found = shop.call("PATCH", "/v1/subscriber/choices", [1], user_id="ann")
    assert (status, found["type"]) == (400, "docs/api.md#unreadable-body")
