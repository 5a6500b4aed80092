"""Versions of the templates that were pushed, by the real handlers: fetched once, pinned, shown."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest
from gazette.adapters.aws.clients import forget
from gazette.adapters.dynamodb.control.template_versions import DynamoTemplateVersions
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.templates.s3 import S3Bundles, key_of
from gazette.bootstrap.parts.clock import now
from gazette.domain.delivery.run import Run
from gazette.domain.templates.versions import DEPLOYED, PushedVersion, Version
from gazette.settings.ranges import RANGES

from gazette_cli.templates.building import SOURCE, Templates
from gazette_cli.templates.pushing import packed
from gazette_support.domain.templates.changes import pushed, rolled_back
from proofs.rollout.bundles import bundle, versions_said
from tests.functions.conftest import Cloud, make_cold
from tests.functions.in_stages import Provider
from tests.functions.pushed import push_version
from tests.functions.test_grants_besides_tables import a_digest, become

pytestmark = pytest.mark.usefixtures("later")

_BUNDLES: dict[int, tuple[Version, bytes]] = {}


@pytest.fixture
def bucket(cloud: Cloud) -> Any:
    forget()
    s3 = boto3.client("s3")
    s3.create_bucket(Bucket="templates")
    return s3


def push(number: int, folder: Path) -> Version:
    """As the command does. Processes that start from now on find it in force."""
    if number not in _BUNDLES:
        _BUNDLES[number] = bundle(number, folder / str(number))
    version, content = _BUNDLES[number]
    S3Bundles("templates").put(version, content)
    versions = DynamoTemplateVersions("control", ranges=RANGES)
    assert versions.add(PushedVersion(version, len(content), now(), "ann"))
    before = versions.in_force()
    assert versions.change(before, *pushed(before, version, 100, at=now(), by="ann"))
    make_cold()
    return version


def roll_back() -> None:
    versions = DynamoTemplateVersions("control", ranges=RANGES)
    before = versions.in_force()
    assert versions.change(before, *rolled_back(before, DEPLOYED, at=now(), by="ann"))
    make_cold()


def emails(cloud: Cloud) -> list[set[int]]:
    """The versions that each email that was accepted says it was made by, in all its parts."""
    found = []
    for each in cloud.sent():
        content = each["Content"]["Simple"]
        parts = (
            content["Subject"]["Data"],
            content["Body"]["Html"]["Data"],
            content["Body"]["Text"]["Data"],
        )
        found.append(set().union(*versions_said(*parts)))
    return found


def run_of(user_id: str = "ann") -> Run:
    (run,) = DynamoRuns("runs", retention=timedelta(days=1)).of_user(user_id)
    assert isinstance(run, Run)
    return run


@pytest.mark.usefixtures("bucket")
def test_retry_and_browser_view_use_the_claimed_template_version(
    cloud: Cloud, provider: Provider, tmp_path: Path
) -> None:
    push(7, tmp_path)
    first, refused = a_digest(cloud, "ann"), a_digest(cloud, "bo")
    cloud.work("generate", first)
    provider.refuse_the_next()
    cloud.work("generate", refused)
    roll_back()
    become(refused, retry_at=None)
    cloud.work("resend", refused)
    assert (run_of("ann").templates, run_of("bo").templates) == (7, 7)
    assert run_of("bo").attempt == 2
    assert cloud.recipients() == ["ann@example.com", "bo@example.com"]
    answer = cloud.invoke("preferences", request(cloud.link("email", run_of("ann").key)))
    assert versions_said(answer["body"]) == [{7}]
    cloud.work("generate", a_digest(cloud, "cy"))
    assert run_of("cy").templates == 0


def request(path: str) -> dict[str, Any]:
    return {
        "rawPath": path,
        "headers": {},
        "requestContext": {"http": {"method": "GET", "path": path}},
        "isBase64Encoded": False,
    }


@pytest.mark.usefixtures("bucket")
def test_all_parts_of_an_email_have_the_same_version(cloud: Cloud, tmp_path: Path) -> None:
    cloud.work("generate", a_digest(cloud, "bo"))
    push(7, tmp_path)
    cloud.work("generate", a_digest(cloud, "ann"))
    assert emails(cloud) == [{0}, {7}]


@pytest.mark.usefixtures("bucket")
def test_version_costs_an_object_read_per_process_and_no_writes(
    cloud: Cloud, tmp_path: Path
) -> None:
    push(7, tmp_path)
    first, second = a_digest(cloud, "ann"), a_digest(cloud, "bo")
    cloud.warm_up("generate")
    cloud.meter.clear()
    cloud.work("generate", first)
    with_version = cloud.meter.calls.copy()
    units = cloud.meter.write_units.copy()
    cloud.meter.clear()
    cloud.work("generate", second)
    assert with_version - cloud.meter.calls == {"s3.GetObject": 1}
    assert cloud.meter.write_units == units


@pytest.mark.usefixtures("bucket")
def test_emails_of_a_version_and_pages_have_the_same_brand(cloud: Cloud, tmp_path: Path) -> None:
    """The version was pushed before a deployment changed the brand, and stays in force."""
    earlier = {**json.loads((SOURCE / "brand.json").read_text()), "name": "Quillnook"}
    (tmp_path / "brand.json").write_text(json.dumps(earlier))
    content = packed(Templates(SOURCE, overlay=tmp_path)).content
    push_version(content=content)
    make_cold()
    cloud.work("generate", a_digest(cloud, "ann"))
    assert run_of("ann").templates == 1
    (email,) = (each["Content"]["Simple"]["Body"] for each in cloud.sent())
    for name in ("email", "updates", "preferences"):
        page = cloud.invoke("preferences", request(cloud.link(name, run_of("ann").key)))["body"]
        assert ("Gazette" in page, "Quillnook" in page) == (True, False), name
    for part in ("Html", "Text"):
        assert ("Gazette" in email[part]["Data"], "Quillnook" in email[part]["Data"]) == (
            True,
            False,
        )


@pytest.mark.parametrize("what", ["missing", "altered", "denied"])
def test_unavailable_version_is_not_used_and_is_counted(
    cloud: Cloud, bucket: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    version = push(7, tmp_path)
    if what == "missing":
        bucket.delete_object(Bucket="templates", Key=key_of(version))
    elif what == "altered":
        bucket.put_object(Bucket="templates", Key=key_of(version), Body=b"altered")
    else:
        bucket.delete_object(Bucket="templates", Key=key_of(version))
        bucket.delete_bucket(Bucket="templates")
    message = a_digest(cloud, "ann")
    capsys.readouterr()
    cloud.work("generate", message)
    assert emails(cloud) == [{0}]
    assert run_of().templates == 0
    counted = [
        written
        for line in capsys.readouterr().out.splitlines()
        if (written := json.loads(line)).get("templates_unusable")
    ]
    assert [each["templates_unusable"] for each in counted] == [[1.0]]
