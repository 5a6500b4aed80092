"""The settings page of docs/settings-page.md in Chromium, with the API on the engine."""

import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlsplit
from urllib.request import Request, urlopen

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from playwright.sync_api import Page, expect

from tests.e2e.test_enforced import client
from tests.settings_page import served
from tests.stage import Deployed, a_profile

USER = "settings"


class Api:
    """The function `call` of docs/api.md. The engine without AUTH accepts any signature."""

    def __init__(self, deployed: Deployed, url: str) -> None:
        self._to, self._host = deployed.engine.url, urlsplit(url).netloc
        given = deployed.engine.environment
        self._credentials = Credentials(given["AWS_ACCESS_KEY_ID"], given["AWS_SECRET_ACCESS_KEY"])

    def __call__(self, method: str, path: str, body: object = None, **query: str) -> Any:
        asked = "&".join(f"{name}={quote(value, safe='')}" for name, value in query.items())
        data = None if body is None else json.dumps(body).encode()
        headers = {"host": self._host} | ({"content-type": "application/json"} if data else {})
        url = f"http://{self._host}{path}?{asked}"
        signed = AWSRequest(method, url, data=data, headers=headers)
        SigV4Auth(self._credentials, "execute-api", "us-east-1").add_auth(signed)
        to = f"{self._to}{path}?{asked}"
        with urlopen(Request(to, data, dict(signed.headers), method=method), timeout=30) as answer:
            return json.load(answer)


@pytest.fixture
def api(deployed: Deployed) -> Api:
    apis = client(deployed.engine, "apigatewayv2").get_apis()["Items"]
    (url,) = (each["ApiEndpoint"] for each in apis if each["Name"] == "gazette-local-services")
    deployed.service.put("subscriber.changed", [a_profile(USER)])
    deployed.settle()
    return Api(deployed, url)


def test_settings_page_changes_one_category_and_opens_the_preference_page(
    page: Page, api: Api
) -> None:
    with served(api, USER) as url:
        page.goto(url)
        expect(page.get_by_label("comment")).to_have_value("daily")
        muted = {"chosen_at": datetime.now(UTC).isoformat(), "frequencies": {"like": "never"}}
        api("PATCH", "/v1/subscriber/choices", muted, user_id=USER)
        page.get_by_label("comment").select_option("weekly")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_label("comment")).to_have_value("weekly")
        expect(page.get_by_label("like")).to_have_value("never")
        state = api("GET", "/v1/subscriber", user_id=USER)
        reasons = {each["category"]: each["because"] for each in state["categories"]}
        assert (reasons["comment"], reasons["like"]) == ("chosen", "chosen")
        page.get_by_role("link", name="More preferences").click()
        expect(page.locator("form")).not_to_have_count(0)
        assert "/preferences/" in page.url
