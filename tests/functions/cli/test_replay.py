"""`gazette replay` on moto: emails that the handlers sent, rendered again."""

import json
import shutil
import webbrowser
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from gazette.adapters.aws.link_keys import SecretKeyStore
from gazette.adapters.dynamodb.control.template_versions import DynamoTemplateVersions
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.adapters.dynamodb.tables import ControlRow, EventRow, RunRow, SubscriberRow
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.adapters.web.links import SignedLinks
from gazette.domain.delivery.run import name_of
from gazette.domain.templates.versions import version_for
from gazette.settings.delivery import GenerateSettings
from gazette.settings.ranges import RANGES
from lxml.html import document_fromstring
from typer.testing import CliRunner, Result

from gazette_cdk.assets.templates.build import build_templates
from gazette_cli.find.scan import SEGMENTS
from gazette_cli.main import app
from gazette_cli.replay import command
from gazette_cli.replay.side_by_side import without_links
from gazette_cli.templates import building, deployed
from gazette_support.bootstrap.replay import build_replay
from gazette_support.domain.replay import SentEmail
from gazette_support.steps.replay import Side, render_again
from tests.conftest import ROOT
from tests.functions.cli.conftest import archived
from tests.functions.conftest import Cloud, fan_out, make_cold
from tests.functions.deployed import deploy
from tests.functions.in_stages import Provider
from tests.functions.messages import ago, envelope, event, profile
from tests.moto_tables import NAMES
from tests.shapes import check

READERS = ("ann", "bo", "cy")
Tree = Callable[..., Path]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """A working tree of its own: its templates, and what its cdk.json says of `prod`."""
    project = tmp_path / "tree"
    shutil.copytree(ROOT / "templates", project / "templates")
    monkeypatch.chdir(project)
    monkeypatch.setattr(building, "SOURCE", project / "templates")

    def says(**settings: object) -> Path:
        stages = json.loads((ROOT / "cdk.json").read_text())["context"]["stages"]
        stages["prod"] |= settings
        (project / "cdk.json").write_text(json.dumps({"context": {"stages": stages}}))
        return project

    says()
    return says


@pytest.fixture
def stage(cloud: Cloud, tree: Tree, layers: tuple[str, str]) -> Cloud:
    """A stage that was deployed from the tree as it is now."""
    deploy("generate", GenerateSettings.from_env().to_env(), *layers)
    return cloud


def happened(number: int, category: str, entity: str = "post#p1", **given: Any) -> dict[str, Any]:
    return {**event(number, entity=entity), "category": category, **given}


def send(cloud: Cloud) -> None:
    """Ann gets a mention and two likes, Bo two comments on one thing, Cy a comment."""
    told = {
        "ann": [
            happened(1, "mention"),
            happened(2, "like", "post#p2"),
            happened(3, "like", "post#p2"),
        ],
        "bo": [happened(1, "comment"), happened(2, "comment")],
        "cy": [happened(1, "comment")],
    }
    profiles = [envelope("subscriber.changed", profile(user_id)) for user_id in READERS]
    events = [
        envelope("event.created", {**each, "user_id": user_id})
        for user_id, details in told.items()
        for each in details
    ]
    cloud.work("ingest", *profiles)
    cloud.work("ingest", *events)
    cloud.meter.clear()
    cloud.work("generate", *fan_out(cloud))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["replay", *arguments, "--to", "page", "--no-open"])


def replayed(*arguments: str, exits: int = 0) -> dict[str, Any]:
    done = run(*arguments, "--json")
    assert done.exit_code == exits, done.output
    check("replay", done)
    return dict(json.loads(done.stdout))


def changes(found: dict[str, Any]) -> dict[str, list[str]]:
    """By reader."""
    return {each["user_id"]: each["changes"] for each in found["emails"] if each["changes"]}


def sent_parts(cloud: Cloud) -> dict[str, tuple[str, str, str]]:
    """What SES was asked to send, or what went by SMTP, by address."""
    by_smtp = {
        mail.to: (mail.edition.subject, mail.edition.html, mail.edition.text)
        for mail in cloud.letters
    }
    by_ses = {}
    for request in cloud.sent():
        content = request["Content"]["Simple"]
        by_ses[request["Destination"]["ToAddresses"][0]] = (
            content["Subject"]["Data"],
            content["Body"]["Html"]["Data"],
            content["Body"]["Text"]["Data"],
        )
    return by_smtp | by_ses


def rendered_again(templates: Path) -> dict[str, tuple[str, str, str]]:
    """The emails of all runs, with the keys of the stage, by address."""
    settings = GenerateSettings.from_env()
    replay = build_replay(settings)
    keys = SecretKeyStore(settings.links_secret).read()
    links = SignedLinks(base_url=settings.base_url, keys=lambda: keys)
    side = Side(
        renderer=JinjaRenderer(templates).for_sending(
            tracks_clicks=bool(settings.track_clicks), measured=nullcontext
        ),
        max_blocks=settings.max_blocks,
        arrangement=settings.arrangement,
    )
    found = {}
    part = replay.sent.sent_since(datetime.now(UTC) - timedelta(days=1), part=0, parts=1)
    for each in part.runs:
        assert not isinstance(each, Exception)
        email = replay.read_email(each)
        assert isinstance(email, SentEmail)
        edition = render_again(email, side, link_maker=links).edition
        assert edition
        found[email.reader.email] = (edition.subject, edition.html, edition.text)
    return found


@pytest.mark.usefixtures("later")
def test_replayed_digest_is_identical_to_the_sent_email(
    cloud: Cloud, provider: Provider, built_templates: Path
) -> None:
    """In each stage, also by SMTP: digests, with the link keys of the stage."""
    send(cloud)
    assert provider.name in {"ses", "smtp"}
    assert sorted(sent_parts(cloud)) == [f"{user_id}@example.com" for user_id in READERS]
    assert rendered_again(built_templates) == sent_parts(cloud)


@pytest.mark.usefixtures("later")
def test_replayed_critical_and_immediate_emails_are_identical_to_the_sent_emails(
    cloud: Cloud, built_templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAZETTE_CRITICAL_CATEGORIES", '["security"]')
    cloud.say("subscriber.changed", profile(frequencies={"comment": "immediate"}, locale="de"))
    cloud.say("subscriber.changed", profile("bo"))
    cloud.meter.clear()
    cloud.say("event.created", event(1), {**event(2, user_id="bo"), "category": "security"})
    cloud.work("generate", *(queued["MessageBody"] for queued in cloud.queued("immediate")))
    assert len(cloud.recipients()) == 2
    assert rendered_again(built_templates) == sent_parts(cloud)


@pytest.mark.usefixtures("later")
def test_replay_without_changes_changes_no_email(stage: Cloud) -> None:
    stage.begin(send)
    found = replayed()
    assert (found["replayed"], found["changed"], found["breaks"]) == (3, 0, 0)
    assert (found["other_categories"], set(found["missing"].values())) == (0, {0})
    for each in found["emails"]:
        assert each["before"] == each["after"]


@pytest.mark.usefixtures("later")
def test_replay_links_have_the_same_length_as_sent_links(stage: Cloud) -> None:
    stage.begin(send)
    sizes = {each["user_id"]: each["after"]["html_bytes"] for each in replayed()["emails"]}
    for address, (_, html, _) in sent_parts(stage).items():
        assert sizes[address.partition("@")[0]] == len(html.encode())


@pytest.mark.usefixtures("later")
def test_replay_only_reads_and_shows_no_address(stage: Cloud) -> None:
    stage.begin(send)
    before = {table: stage.rows(table) for table in NAMES.values()}
    stage.meter.clear()
    with stage.meter.acting("designer"):
        done = run("--json")
        assert done.exit_code == 0
    assert stage.meter.actions["designer"] == {
        ("runs", "DescribeTable"),
        ("runs", "Scan"),
        ("subscribers", "GetItem"),
        ("events", "Query"),
        ("control", "GetItem"),
    }
    assert {table: stage.rows(table) for table in NAMES.values()} == before
    assert "ann@example.com" not in done.output + run().output
    assert stage.meter.calls["secretsmanager.GetSecretValue"] == 0


@pytest.mark.usefixtures("later")
def test_changed_subject_template_changes_every_digest_subject(stage: Cloud, tree: Tree) -> None:
    stage.begin(send)
    subject = tree() / "templates" / "categories" / "mention" / "headline.txt"
    subject.write_text(subject.read_text().replace("mentioned", "named"))
    found = replayed()
    assert changes(found) == {"ann": ["subject"]}
    (ann,) = (each for each in found["emails"] if each["user_id"] == "ann")
    assert "mentioned" in ann["before"]["subject"]
    assert "named" in ann["after"]["subject"]
    assert "1 of 3 emails changes: 1 subject, 0 larger than 90 KB, 0 fail" in run().stdout


@pytest.mark.usefixtures("later")
def test_changed_weight_reorders_digests_with_both_categories(stage: Cloud, tree: Tree) -> None:
    stage.begin(send)
    tree(category_weights={"like": 100})
    found = replayed()
    assert {"order", "subject"} <= set(changes(found).pop("ann"))
    assert changes(found).keys() == {"ann"}
    (ann,) = (each for each in found["emails"] if each["user_id"] == "ann")
    assert ann["before"]["blocks"] == ["Title of post#p1", "Title of post#p2"]
    assert ann["after"]["blocks"] == ["Title of post#p2", "Title of post#p1"]


def push(
    folder: Path, subject: str, *arguments: str, settings: dict[str, Any] | None = None
) -> None:
    """A version whose digests have this subject."""
    file = folder / "own" / "digest" / "subject.txt"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(subject)
    (folder / "own" / "settings.json").write_text(json.dumps(settings or {}))
    done = CliRunner().invoke(app, ["templates", "push", str(folder / "own"), "--yes", *arguments])
    assert done.exit_code == 0, done.output


def subjects(found: dict[str, Any], side: str) -> set[str]:
    return {each[side]["subject"] for each in found["emails"]}


@pytest.mark.long
@pytest.mark.usefixtures("later")
def test_replay_compares_with_the_version_in_force_by_default(
    stage: Cloud, tree: Tree, tmp_path: Path
) -> None:
    """Also of emails that were sent before it was pushed; what was sent can be asked for."""
    stage.begin(send)
    push(tmp_path, "News")
    found = replayed()
    assert subjects(found, "before") == {"News"}
    assert "News" not in subjects(found, "after")
    assert found["changed"] == 3
    as_sent = replayed("--as-sent")
    assert "News" not in subjects(as_sent, "before")
    assert as_sent["changed"] == 0


@pytest.mark.long
@pytest.mark.usefixtures("later")
def test_replay_can_compare_with_each_email_as_sent(stage: Cloud, tmp_path: Path) -> None:
    push(tmp_path, "One")
    make_cold()
    send(stage)
    push(tmp_path, "Two")
    assert subjects(replayed("--as-sent", "--version", "2"), "before") == {"One"}
    assert subjects(replayed("--version", "1"), "before") == {"Two"}
    for each in replayed("--as-sent", "--version", "1")["emails"]:
        assert each["before"] == each["after"]
        assert each["same_categories"] is True


@pytest.mark.usefixtures("later")
def test_email_with_a_deleted_version_is_counted(stage: Cloud, tmp_path: Path) -> None:
    push(tmp_path, "One")
    make_cold()
    send(stage)
    push(tmp_path, "Two")
    ControlRow("template_version", "000001").delete()
    found = replayed("--as-sent", "--version", "2")
    assert (found["replayed"], found["missing"]["templates"]) == (0, 3)


@pytest.mark.usefixtures("later")
def test_emails_of_candidate_readers_are_compared_with_the_candidate(
    stage: Cloud, tmp_path: Path
) -> None:
    stage.begin(send)
    push(tmp_path, "News", "--percent", "50")
    versions = DynamoTemplateVersions("control", ranges=RANGES)
    expected = {user: version_for(user, versions.in_force()).number for user in READERS}
    found = replayed("--version", "1")
    assert {each["user_id"] for each in found["emails"] if each["before"]["subject"] == "News"} == {
        user for user, version in expected.items() if version == 1
    }
    assert subjects(found, "after") == {"News"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--version", "7"), "--version 7: version 7 does not exist"),
        (
            ("--version", "1", "--variation", "2"),
            "--variation 2: Version 1 does not have variation 2.",
        ),
    ],
)
def test_invalid_version_option_is_named(
    stage: Cloud, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    push(tmp_path, "News")
    done = run(*arguments)
    assert (done.exit_code, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert said in done.stderr


def paragraphs(page: str) -> str:
    """What the page says, without the emails."""
    return " ".join(" ".join(document_fromstring(Path(page).read_text()).itertext()).split())


@pytest.mark.usefixtures("later")
def test_replay_page_names_the_version_in_force(stage: Cloud, tmp_path: Path) -> None:
    """Its settings are those before: the tree has the stage's."""
    stage.begin(send)
    push(tmp_path, "News", settings={"max_blocks": 1})
    shutil.rmtree(tmp_path / "own")
    found = replayed()
    assert found["changed"] == 3
    assert {each["version_before"] for each in found["emails"]} == {1}
    told = paragraphs(found["page"])
    assert "Effect of this working tree on the emails of prod" in told
    assert "Before: the settings of prod, where all readers get version 1." in told
    assert "After: the templates of the working tree, and the settings of prod in cdk.json." in told
    assert "max_blocks 1 20" in told
    assert "before with" not in told
    assert "subject (changed) News" in told


@pytest.mark.usefixtures("later")
def test_replay_page_can_show_a_version_instead_of_the_tree(
    stage: Cloud, tree: Tree, tmp_path: Path
) -> None:
    """Whatever the tree says, and with the exit status and the page that a mistake has."""
    stage.begin(send)
    push(tmp_path, "News", settings={"max_blocks": 1})
    (tree(max_blocks=7) / "templates" / "digest" / "subject.txt").write_text("{{ nothing }}")
    done = CliRunner().invoke(app, ["templates", "rollback", "deployed", "--yes"])
    assert done.exit_code == 0, done.output
    found = replayed("--version", "1")
    assert {each["version_before"] for each in found["emails"]} == {0}
    told = paragraphs(found["page"])
    assert "Effect of version 1 on the emails of prod" in told
    assert (
        "all readers get the deployed templates. After: version 1, and the deployed settings"
        in told
    )
    assert "max_blocks 20 1" in told
    other = replayed("--version", "deployed")
    assert other["changed"] == 0
    told = paragraphs(other["page"])
    assert "Effect of the deployed templates on the emails of prod" in told
    assert "Settings that differ" not in told


@pytest.mark.long
@pytest.mark.usefixtures("later")
def test_replay_page_names_both_versions_of_the_sent_emails(stage: Cloud, tmp_path: Path) -> None:
    push(tmp_path, "One", settings={"max_blocks": 5})
    make_cold()
    send(stage)
    push(tmp_path, "Two", settings={"max_blocks": 6})
    with stage.meter.acting("somebody else"):
        RunRow("ann", "daily#0000000001").update(actions=[RunRow.templates.set(2)])
    found = replayed("--as-sent", "--version", "deployed")
    assert {each["user_id"]: each["version_before"] for each in found["emails"]} == {
        "ann": 2,
        "bo": 1,
        "cy": 1,
    }
    told = paragraphs(found["page"])
    assert "the settings of prod, and the version that each email was sent with." in told
    assert "max_blocks by version: 5 (version 1), 6 (version 2) 20" in told
    assert told.count("before with version 1.") == 2
    assert told.count("before with version 2.") == 1
    in_force = paragraphs(replayed("--version", "deployed")["page"])
    assert "max_blocks 6 20" in in_force
    assert "by version:" not in in_force


@pytest.mark.usefixtures("later")
def test_replay_of_a_failing_version_writes_the_page_and_fails(
    stage: Cloud, tmp_path: Path
) -> None:
    """It has no file that could be named."""
    stage.begin(send)
    push(tmp_path, "{% if 'post#p' in groups[0].shown.title %}{{ nothing_there }}{% endif %}News")
    CliRunner().invoke(app, ["templates", "rollback", "deployed", "--yes"])
    found = replayed("--version", "1", exits=command.BREAKS)
    assert changes(found) == {user_id: ["skipped", "excluded"] for user_id in READERS}
    assert "Failures ann-daily-1: " in paragraphs(found["page"])


def test_replay_without_emails_compares_only_the_settings(stage: Cloud, tmp_path: Path) -> None:
    push(tmp_path, "News", settings={"max_blocks": 5})
    assert "max_blocks 5 20" in paragraphs(replayed()["page"])


@pytest.mark.usefixtures("later")
def test_lower_block_limit_changes_larger_digests(stage: Cloud, tree: Tree) -> None:
    stage.begin(send)
    tree(max_blocks=1)
    found = replayed()
    assert changes(found).keys() == {"ann"}
    assert "blocks" in changes(found)["ann"]
    assert found["emails"][0]["after"]["left_out"] == 1
    assert found["breaks"] == 0


@pytest.mark.usefixtures("later")
def test_template_that_no_longer_renders_an_event_is_named_with_its_line(
    stage: Cloud, tree: Tree
) -> None:
    stage.begin(send)
    line = tree() / "templates" / "categories" / "like" / "line.txt"
    line.write_text(f"{line.read_text()}\n{{{{ group.data.stars }}}}")
    number = len(line.read_text().splitlines())
    found = replayed(exits=command.BREAKS)
    assert changes(found).keys() == {"ann"}
    assert {"excluded", "blocks"} <= set(changes(found)["ann"])
    problems = found["emails"][0]["after"]["problems"]
    assert [problem["event"] for problem in problems] == ["e2", "e3"]
    assert all(f"{line}:{number}: " in problem["why"] for problem in problems)
    done = run()
    assert done.exit_code == command.BREAKS
    assert done.stdout.count(f"ann-daily-1: {line}:{number}: ") == 1


@pytest.mark.usefixtures("later")
def test_templates_that_render_no_event_fail_for_each_email(stage: Cloud, tree: Tree) -> None:
    stage.begin(send)
    body = tree() / "templates" / "parts" / "why.txt"
    body.write_text(f"{body.read_text()}{{{{ nothing_there }}}}\n")
    found = replayed(exits=command.BREAKS)
    assert found["changes"]["fails"] == 3
    for each in found["emails"]:
        assert each["changes"] == ["fails"]
        assert str(body) in each["after"]["problems"][0]["why"]
        assert "'nothing_there' is undefined" in each["after"]["problems"][0]["why"]


@pytest.mark.usefixtures("later")
def test_email_without_renderable_events_is_reported_as_skipped(stage: Cloud, tree: Tree) -> None:
    stage.begin(send)
    line = tree() / "templates" / "categories" / "comment" / "line.txt"
    line.write_text("{{ group.data.stars }}")
    found = replayed(exits=command.BREAKS)
    assert changes(found) == {"bo": ["skipped", "excluded"], "cy": ["skipped", "excluded"]}


@pytest.mark.usefixtures("later")
def test_templates_that_cannot_be_built_are_reported_on_a_single_line(
    stage: Cloud, tree: Tree
) -> None:
    broken = tree() / "templates" / "digest" / "subject.txt"
    broken.write_text("{% if %}")
    done = run()
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"{broken.relative_to(Path.cwd())}:1: " in done.stderr


@pytest.mark.usefixtures("later")
def test_templates_option_replaces_the_templates_of_the_stage(stage: Cloud, tmp_path: Path) -> None:
    stage.begin(send)
    own = tmp_path / "own"
    (own / "digest").mkdir(parents=True)
    (own / "digest" / "subject.txt").write_text("News")
    found = replayed("--templates", str(own))
    assert {each["after"]["subject"] for each in found["emails"]} == {"News"}


@pytest.mark.usefixtures("later")
def test_each_email_is_replayed_with_the_variation_of_its_run(stage: Cloud, tree: Tree) -> None:
    stage.begin(send)
    row = RunRow.get("ann", "daily#0000000001")
    row.update(actions=[RunRow.variation.set(2), RunRow.experiment.set("subjects")])
    own = tree() / "templates" / "variations" / "2" / "digest"
    own.mkdir(parents=True)
    (own / "subject.txt").write_text("The second")
    found = replayed()
    assert changes(found) == {"ann": ["subject"]}
    assert {each["user_id"]: each["variation"] for each in found["emails"]} == {
        "ann": 2,
        "bo": 1,
        "cy": 1,
    }
    assert changes(replayed("--variation", "2")).keys() == set(READERS)
    done = run("--variation", "3")
    assert (done.exit_code, "Variation 3 does not exist" in done.stderr) == (2, True)


@pytest.mark.usefixtures("later")
def test_unreplayable_emails_are_counted_and_explained(stage: Cloud) -> None:
    stage.begin(send)
    with stage.meter.acting("somebody else"):
        DynamoSubscribers("subscribers").erase("ann", datetime.now(UTC))
        for each in EventRow.query("bo"):
            each.delete()
    found = replayed()
    assert found["replayed"] == 1
    assert found["missing"] == {"reader": 1, "events": 1, "unreadable": 0, "templates": 0}
    said = run().stderr
    assert (
        "1 email cannot be rendered again because their readers no longer have a profile." in said
    )
    assert "1 email cannot be rendered again because their events are no longer stored." in said


@pytest.mark.usefixtures("later")
def test_emails_with_different_content_are_counted_and_reported(stage: Cloud) -> None:
    stage.begin(send)
    with stage.meter.acting("somebody else"):
        EventRow("ann", "e1").delete()
    found = replayed()
    assert (found["replayed"], found["other_categories"], found["changed"]) == (3, 1, 0)
    assert "1 sent email had different categories or a different order" in run().stderr


@pytest.mark.usefixtures("later")
def test_event_omitted_by_the_sent_email_is_omitted_in_the_replay(stage: Cloud) -> None:
    stage.begin(send)
    with stage.meter.acting("somebody else"):
        row = RunRow.get("ann", "daily#0000000001")
        row.update(actions=[RunRow.left_out.set(name_of("e1"))])
    (ann,) = replayed("--user", "ann")["emails"]
    assert ann["after"]["blocks"] == ["Title of post#p2"]


@pytest.mark.usefixtures("later")
def test_run_of_an_older_version_is_replayed_from_its_available_attributes(stage: Cloud) -> None:
    stage.begin(send)
    older = ("newest", "left_out", "sent_at", "claimed_at", "created_at", "locale", "categories")
    with stage.meter.acting("somebody else"):
        row = RunRow.get("ann", "daily#0000000001")
        row.update(actions=[getattr(RunRow, name).remove() for name in older])
    found = replayed()
    assert (found["replayed"], found["other_categories"], found["changed"]) == (3, 0, 0)


@pytest.mark.usefixtures("later")
def test_only_emails_sent_in_the_requested_days_are_replayed(stage: Cloud) -> None:
    stage.begin(send)
    long_ago = datetime.now(UTC) - timedelta(days=3)
    with stage.meter.acting("somebody else"):
        RunRow("ann", "daily#0000000001").update(actions=[RunRow.sent_at.set(long_ago)])
        RunRow("bo", "daily#0000000001").update(actions=[RunRow.status.set("failed")])
    assert [each["user_id"] for each in replayed("--days", "2")["emails"]] == ["cy"]
    assert {each["user_id"] for each in replayed("--days", "4")["emails"]} == {"ann", "cy"}
    done = run("--days", "2", "--user", "ann")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "No email was sent to ann in 2 days" in done.stderr


@pytest.mark.long
@pytest.mark.usefixtures("later")
def test_sample_is_reproducible_and_included_in_a_larger_sample(stage: Cloud) -> None:
    stage.begin(send)

    def sampled(number: int) -> set[str]:
        return {each["run"] for each in replayed("--sample", str(number))["emails"]}

    assert sampled(1) == sampled(1)
    assert len(sampled(1)) == 1
    assert sampled(1) < sampled(2) < sampled(3)


@pytest.mark.usefixtures("later")
def test_runs_are_read_by_a_segmented_scan_with_reported_units(stage: Cloud) -> None:
    stage.begin(send)
    stage.meter.clear()
    done = run()
    assert stage.meter.calls["dynamodb.Scan"] == SEGMENTS
    assert f"Read {SEGMENTS} of {SEGMENTS} parts of the table of runs" in done.stderr
    assert "read units), and found 3 sent emails of 7 days" in done.stderr


def test_replay_without_sent_emails_is_reported(stage: Cloud) -> None:
    done = run()
    assert done.exit_code == 0
    assert "0 of 0 emails change" in done.stdout


def test_reader_without_emails_is_named(stage: Cloud) -> None:
    done = run("--user", "nobody")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "No email was sent to nobody in 7 days" in done.stderr


def test_stage_without_templates_in_its_layers_is_reported(cloud: Cloud, tree: Tree) -> None:
    deploy("generate", GenerateSettings.from_env().to_env())
    done = run()
    assert (done.exit_code, done.stdout) == (2, "")
    assert "No layer of gazette-prod-generate has templates" in done.stderr


def test_invalid_reader_is_reported_on_a_single_line(stage: Cloud) -> None:
    done = run("--user", "a b")
    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1)


@pytest.mark.usefixtures("later")
def test_replay_page_shows_each_email_before_and_after(stage: Cloud, tree: Tree) -> None:
    """But for the targets of links, which lead nowhere."""
    stage.begin(send)
    for name in ("line.txt", "sentence.txt"):
        title = tree() / "templates" / "categories" / "comment" / name
        title.write_text(f"{title.read_text().rstrip()}, look\n")
    found = replayed()
    assert changes(found).keys() == {"bo", "cy"}
    content = Path(found["page"]).read_text()
    root = document_fromstring(content)
    shown = {each.get("title"): each.get("srcdoc") for each in root.iter("iframe")}
    assert shown.keys() == {
        f"{user_id}-daily-1 {side}" for user_id in ("bo", "cy") for side in ("before", "after")
    }
    for address, (_, html, _) in sent_parts(stage).items():
        user_id = address.partition("@")[0]
        if user_id != "ann":
            assert shown[f"{user_id}-daily-1 before"] == without_links(html)
            assert ", look" in shown[f"{user_id}-daily-1 after"]
        assert address not in content
    assert 'href="http' not in unescape(content)
    assert "1 email does not change" in content


@pytest.mark.usefixtures("later")
def test_replay_page_is_written_despite_failures_and_lists_them_first(
    stage: Cloud, tree: Tree
) -> None:
    stage.begin(send)
    line = tree() / "templates" / "categories" / "like" / "line.txt"
    line.write_text("{{ group.data.stars }}")
    found = replayed(exits=command.BREAKS)
    content = unescape(Path(found["page"]).read_text())
    assert content.index("Failures") < content.index(f"ann-daily-1: {line}:1: ")
    assert content.index(f"ann-daily-1: {line}:1: ") < content.index("Side by side")


@pytest.mark.usefixtures("later")
def test_replay_page_opens_in_a_browser_unless_disabled(
    stage: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.begin(send)
    opened: list[str] = []

    def browse(link: str) -> bool:
        opened.append(link)
        return False

    monkeypatch.setattr(webbrowser, "open", browse)
    assert run().exit_code == 0
    assert opened == []
    done = CliRunner().invoke(app, ["replay", "--to", "report"])
    assert opened == [(tmp_path / "tree" / "report" / "index.html").as_uri()]
    assert "no browser is available" in done.stderr


def test_unwritable_folder_is_reported_before_any_read(stage: Cloud, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("")
    stage.meter.clear()
    done = CliRunner().invoke(app, ["replay", "--no-open", "--to", str(taken)])
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"--to {taken} is not writable" in done.stderr
    assert not stage.meter.calls


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--templates", "nowhere"), "--templates nowhere is not a folder"),
        (("--variation", "3"), "--variation 3: Variation 3 does not exist"),
        (("--version", "next"), "--version next: 'next' is not a version. Specify a number"),
        (
            ("--version", "1", "--templates", "own"),
            "--version and --templates cannot be used together",
        ),
        (("--user", ""), "--user '' is not a valid user id"),
        (("--days", "0"), "--days"),
        (("--days", "201"), "--days"),
        (("--sample", "0"), "--sample"),
        (("--sample", "10001"), "--sample"),
        (("--stage", "nowhere"), "nowhere"),
    ],
)
def test_invalid_replay_option_is_named(
    stage: Cloud, arguments: tuple[str, ...], said: str
) -> None:
    stage.meter.clear()
    done = run(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in " ".join(done.stderr.split())
    assert not stage.meter.calls


@pytest.mark.usefixtures("later")
def test_unreadable_rows_are_counted_and_reported(stage: Cloud) -> None:
    stage.begin(send)
    with stage.meter.acting("somebody else"):
        RunRow("ann", "daily#0000000001").update(actions=[RunRow.epoch.remove()])
        EventRow("bo", "e1").update(actions=[EventRow.body.set("{")])
        SubscriberRow("cy").update(actions=[SubscriberRow.choices.set("{")])
    found = replayed()
    assert (found["replayed"], found["missing"]["unreadable"]) == (0, 2)
    done = run()
    assert done.exit_code == 0
    assert (
        "2 emails cannot be rendered again because this version cannot read their rows."
        in done.stderr
    )
    assert "This version cannot read 1 run." in done.stderr
    content = Path("page/index.html").read_text()
    assert "This version cannot read 1 run." in content
    assert "2 emails cannot be rendered again" in content


@pytest.mark.usefixtures("later")
def test_replayed_email_keeps_its_original_language(cloud: Cloud, built_templates: Path) -> None:
    send(cloud)
    for user_id in READERS:
        cloud.say("subscriber.changed", profile(user_id, locale="de", changed_at=ago(days=1)))
    with cloud.meter.acting("somebody else"):
        assert {row.locale for row in SubscriberRow.scan()} == {"de"}
    assert rendered_again(built_templates) == sent_parts(cloud)


@pytest.mark.usefixtures("later")
def test_immediate_and_critical_emails_are_compared_like_digests(
    cloud: Cloud, tree: Tree, layers: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAZETTE_CRITICAL_CATEGORIES", '["security"]')
    deploy("generate", GenerateSettings.from_env().to_env(), *layers)
    cloud.say("subscriber.changed", profile(frequencies={"comment": "immediate"}))
    cloud.say("subscriber.changed", profile("bo"))
    cloud.say("event.created", event(1), {**event(2, user_id="bo"), "category": "security"})
    cloud.work("generate", *(queued["MessageBody"] for queued in cloud.queued("immediate")))
    found = replayed()
    assert (found["replayed"], found["changed"], found["other_categories"]) == (2, 0, 0)
    (tree() / "templates" / "immediate" / "subject.txt").write_text("Just now")
    found = replayed()
    assert changes(found) == {"ann": ["subject"], "bo": ["subject"]}


@pytest.mark.usefixtures("later")
def test_replay_reads_each_row_once(stage: Cloud) -> None:
    """Beside the versions in force, which are one row."""
    stage.begin(send)
    stage.meter.clear()
    replayed()
    calls = stage.meter.calls
    assert {name: calls[name] for name in calls if name.startswith("dynamodb.")} == {
        "dynamodb.DescribeTable": 1,
        "dynamodb.Scan": SEGMENTS,
        "dynamodb.GetItem": 1 + len(READERS),
        "dynamodb.Query": len(READERS),
    }


@pytest.mark.usefixtures("later")
def test_oversized_email_is_replayed_with_fewer_blocks(stage: Cloud, tree: Tree) -> None:
    stage.begin(send)
    block = tree() / "templates" / "digest" / "block.html"
    block.write_text(block.read_text() + "<!-- " + "x" * 60_000 + " -->")
    found = replayed(exits=command.BREAKS)
    assert {"cut", "blocks"} <= set(changes(found)["ann"])
    (ann,) = (each for each in found["emails"] if each["user_id"] == "ann")
    assert (ann["before"]["left_out"], ann["after"]["left_out"]) == (0, 1)
    assert ann["after"]["blocks"] == ["Title of post#p1"]
    assert found["changes"]["cut"] == 1


@pytest.mark.usefixtures("later")
def test_same_error_in_two_templates_is_reported_with_both_files(stage: Cloud, tree: Tree) -> None:
    stage.begin(send)
    lines = [
        tree() / "templates" / "categories" / name / "line.txt" for name in ("like", "comment")
    ]
    for line in lines:
        line.write_text("{{ group.data.stars }}")
    told = run()
    assert told.exit_code == command.BREAKS
    for line in lines:
        assert f"{line}:1: " in told.stdout


@pytest.mark.usefixtures("later")
def test_failure_on_both_sides_is_reported_but_not_a_change(
    stage: Cloud,
    tree: Tree,
    layers: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage.begin(send)
    line = tree() / "templates" / "categories" / "like" / "line.txt"
    line.write_text("{{ group.data.stars }}")
    build_templates(tree() / "templates", tmp_path / "built")
    archive = archived(tmp_path / "built")
    monkeypatch.setattr(deployed, "fetch", {layers[1]: archive}.__getitem__)
    done = run()
    assert done.exit_code == 0
    assert "0 of 3 emails change" in done.stdout
    assert (
        "Even before the change, 1 email cannot be shown completely, such as ann-daily-1: "
        in done.stderr
    )
    assert f"{line}:1: " in done.stderr


def test_deployed_templates_of_another_version_are_reported_on_a_single_line(
    stage: Cloud,
    built_templates: Path,
    layers: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = shutil.copytree(built_templates, tmp_path / "other")
    (other / "brand.json").write_text('{"name": "Shop", "slogan": "of tomorrow"}')
    monkeypatch.setattr(deployed, "fetch", {layers[1]: archived(other)}.__getitem__)
    done = run()
    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1)
    assert "cannot use the deployed templates (brand.json: unknown" in done.stderr


def test_unreadable_layer_is_reported_on_a_single_line(
    stage: Cloud, layers: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deployed, "fetch", {layers[1]: b"no archive"}.__getitem__)
    done = run()
    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1)
    assert f"The layer {layers[1]} is unreadable" in done.stderr


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize(
    ("html", "text"),
    [("", ""), ("<!-- nothing -->", ""), ("<frameset></frameset>", ""), ("text", "text")],
)
def test_email_without_a_body_has_no_preheader(
    stage: Cloud, tree: Tree, html: str, text: str
) -> None:
    stage.begin(send)
    (tree() / "templates" / "digest" / "body.html").write_text(html)
    found = replayed()
    assert found["changes"]["preheader"] == len(READERS)
    assert {each["after"]["preheader"] for each in found["emails"]} == {text}
