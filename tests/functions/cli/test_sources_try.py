"""`gazette sources try`, and the check of `gazette doctor`, against a service on loopback."""

import json
from collections.abc import Iterator

import boto3
import pytest
from gazette.adapters.content.http_source import LARGEST_ANSWER
from gazette.adapters.dynamodb.pacing.pace import RECOMMENDATIONS_ROW, DynamoRateLimiter
from gazette.bootstrap.parts.clock import now
from gazette.domain.delivery.pace import PacePlan
from gazette.settings.content import ContentSettings
from gazette.settings.delivery import GenerateSettings
from typer.testing import CliRunner, Result

from gazette_cli.doctor.findings import Finding
from gazette_cli.main import app
from gazette_cli.sources.checking import check_source
from proofs.sources.service import Reply, Service, items, serving
from tests.functions.conftest import TOKEN, Cloud
from tests.functions.deployed import deploy
from tests.shapes import check

pytestmark = pytest.mark.enable_socket


@pytest.fixture
def service() -> Iterator[Service]:
    with serving() as running:
        yield running


@pytest.fixture
def stage(cloud: Cloud, service: Service, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    """A stage whose content source is the service."""
    monkeypatch.setenv("GAZETTE_CONTENT_SOURCES", '["events", "recommendations"]')
    monkeypatch.setenv("GAZETTE_RECOMMENDATIONS_URL", service.url)
    monkeypatch.setenv("GAZETTE_RECOMMENDATIONS_TIMEOUT", "1")
    monkeypatch.setenv("GAZETTE_LINK_HOSTS", '["example.com"]')
    deploy("content", ContentSettings.from_env().to_env())
    return cloud


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["sources", "try", *arguments])


def told(result: Result) -> dict[str, str]:
    return dict(line.split("\t") for line in result.stdout.splitlines())


def test_service_is_tried_without_a_stage_and_without_aws(service: Service) -> None:
    service.answers(Reply(body=items("a", "b")))
    done = run(service.url, "--user", "ann", "--digest", "weekly")
    assert done.exit_code == 0, done.output
    rows = told(done)
    assert (rows["result"], rows["status"]) == ("usable", "200")
    assert rows["items"] == "2 in the response, 2 usable"
    assert rows["digest shows 2"] == "Item b <https://example.com/b>"
    (asked,) = service.requests
    assert (asked.user_id, asked.query["digest"], asked.query["limit"]) == ("ann", "weekly", "5")
    assert "authorization" not in asked.headers
    assert asked.headers["accept-encoding"] == "identity"


def test_each_invalid_item_is_listed_with_its_field_and_remedy(service: Service) -> None:
    listed = [
        {"id": "a"},
        {"id": "b", "title": "B", "url": "b", "published": "2026-11-20T07:00:00Z"},
        json.loads(items("c"))["items"][0],
        json.loads(items("c"))["items"][0],
        json.loads(items("d", expires_at="2020-01-01T00:00:00Z"))["items"][0],
        json.loads(items("e", image={"url": "http://x"}))["items"][0],
    ]
    service.answers(Reply(body=json.dumps({"items": listed}).encode()))
    done = run(service.url, "--json")
    assert done.exit_code == 0
    assert check("sources try", done)
    document = json.loads(done.stdout)
    assert (document["items"], document["skipped"]) == (6, 2)
    assert [each["id"] for each in document["shown"]] == ["c", "e"]
    assert [(each["item"], each["field"], each["left_out"]) for each in document["refused"]] == [
        (1, "title", True),
        (1, "url", True),
        (1, "published", True),
        (2, "url", True),
        (6, "image.url", False),
    ]
    assert all(each["reason"] for each in document["refused"])


def test_service_without_items_is_usable(service: Service) -> None:
    service.answers(Reply(status=204, body=b""))
    done = run(service.url)
    assert done.exit_code == 0, done.output
    assert told(done)["digest shows"].startswith("no item")


@pytest.mark.parametrize(
    ("reply", "problem", "todo"),
    [
        (Reply(status=401), "status 401", "Store a token"),
        (Reply(status=404), "status 404", "status 204"),
        (Reply(status=302), "redirects are not followed", "Use the URL"),
        (Reply(status=503), "status 503", "fewer requests"),
        (Reply(status=500), "status 500", "Read the log"),
        (Reply(body=b"<html>"), "JSON", "answer.schema.json"),
        (Reply(body=b"[]"), "no list `items`", "answer.schema.json"),
        (Reply(body=b"x" * (LARGEST_ANSWER + 1)), "larger than", "Return fewer items"),
        (Reply(headers={"Content-Encoding": "gzip"}), "encoding", "Do not compress"),
        (Reply(body=b'{"items": [{}]}'), "Every item", "Fix the fields"),
    ],
)
def test_unusable_service_exits_with_1_and_a_remedy(
    service: Service, reply: Reply, problem: str, todo: str
) -> None:
    service.answers(reply)
    done = run(service.url)
    assert done.exit_code == 1, done.output
    rows = told(done)
    assert problem in rows["result"]
    assert todo in rows["what to do"]
    assert len(service.requests) == 1, "a trial is not retried"


def test_service_that_does_not_respond_exits_with_1() -> None:
    done = run("http://127.0.0.1:1/items", "--json")
    assert done.exit_code == 1
    document = json.loads(done.stdout)
    assert document["status"] is None
    assert document["todo"].startswith("Check the host")


@pytest.mark.parametrize("url", ["http://shop.example/items", "ftp://127.0.0.1/", "items", ""])
def test_unusable_url_is_refused_before_the_request(url: str) -> None:
    assert run(*([url] if url else [])).exit_code == 2


def test_stage_gives_its_time_limit_token_and_hosts(stage: Cloud, service: Service) -> None:
    service.answers(Reply(body=items("a", url="https://other.example/a")))
    done = run("--stage", "prod")
    assert done.exit_code == 1, done.output
    assert "link_hosts" in done.stdout
    assert service.requests[-1].headers["authorization"] == "Bearer the-token"
    service.answers(Reply(delay=3))
    done = run("--stage", "prod")
    assert "did not answer completely within 1 s" in told(done)["result"]


def test_token_of_a_stage_is_not_sent_to_another_host(stage: Cloud, service: Service) -> None:
    with serving() as other:
        done = run(other.url, "--stage", "prod")
        assert done.exit_code == 0, done.output
        assert "authorization" not in other.requests[-1].headers
    assert "The request had no token" in done.stderr
    assert run(f"{service.url}?kind=all", "--stage", "prod").exit_code == 0
    assert service.requests[-1].headers["authorization"] == "Bearer the-token"


def test_secret_without_a_token_is_refused_in_one_line(stage: Cloud) -> None:
    boto3.client("secretsmanager").put_secret_value(SecretId=TOKEN, SecretString="two words")
    done = run("--stage", "prod")
    assert done.exit_code == 2
    assert "does not contain a bearer token" in done.stderr


def finding() -> Finding:
    """The finding of `gazette doctor`."""
    (each,) = check_source("prod", GenerateSettings.from_env())
    return each


def test_doctor_queries_the_source_of_the_stage_once(stage: Cloud, service: Service) -> None:
    service.answers(Reply(body=items("a")))
    assert (finding().level, finding().todo) == ("ok", "")
    assert finding().seen.startswith("status 200 in 0.")
    assert {asked.user_id for asked in service.requests} == {"gazette-doctor"}
    service.answers(Reply(status=401))
    assert (finding().level, finding().page) == ("problem", "docs/content.md")
    assert "Store a token" in finding().todo
    service.answers(
        Reply(body=json.dumps({"items": [*json.loads(items("a"))["items"], {}]}).encode())
    )
    assert finding().level == "warning"
    assert finding().todo.startswith("In item 2, id ")


def test_doctor_does_not_query_a_stopped_source(stage: Cloud, service: Service) -> None:
    limiter = DynamoRateLimiter("pace", PacePlan(rate=9), name=RECOMMENDATIONS_ROW)
    limiter.trip("503", now())
    assert finding().level == "problem"
    limiter.open_by_hand("it moves", now())
    assert finding().level == "warning"
    assert service.requests == []


def test_doctor_warns_of_a_source_that_only_the_vpc_reaches(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAZETTE_CONTENT_SOURCES", '["events", "recommendations"]')
    monkeypatch.setenv("GAZETTE_RECOMMENDATIONS_URL", "http://127.0.0.1:1/")
    deploy("content", ContentSettings.from_env().to_env())
    assert finding().level == "problem"
    monkeypatch.setattr("gazette_cli.sources.checking.is_in_vpc", lambda *_: True)
    assert finding().level == "warning"
    assert "in a VPC" in finding().seen


def test_doctor_has_no_check_for_a_stage_without_a_source(cloud: Cloud) -> None:
    assert [*check_source("prod", GenerateSettings.from_env())] == []
