"""`gazette event`: what people see of their events before they are put on the bus."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from gazette_cli.events.envelopes import LIMIT
from gazette_cli.main import app
from tests.functions.messages import envelope, follow, profile

EVENT: dict[str, Any] = {
    "id": "e1",
    "user_id": "ann",
    "category": "comment",
    "entity": {"type": "post", "id": "p1", "title": "On digests", "url": "https://example.com/p1"},
    "actor": {"id": "bo", "name": "Bo"},
    "occurred_at": "2026-11-21T09:30:00Z",
    "excerpt": "Well\nsaid.",
}
PROFILE = {
    "user_id": "ann",
    "email": "ann@example.com",
    "name": "Ann",
    "time_zone": "Europe/Berlin",
    "changed_at": "2026-11-21T09:00:00Z",
    "frequencies": {"comment": "immediate", "like": "never"},
}

DAILY = "ann@example.com gets daily digests at 08:10 Europe/Berlin"


def entry(detail: object, detail_type: str = "event.created") -> dict[str, Any]:
    """An entry of PutEvents."""
    return {"Source": "shop", "DetailType": detail_type, "Detail": detail}


def delivered(detail: object, detail_type: str = "event.created") -> dict[str, Any]:
    """An envelope of EventBridge."""
    return {"source": "shop", "detail-type": detail_type, "detail": detail}


def event(**changed: Any) -> dict[str, Any]:
    """The detail of an event."""
    return {**EVENT, **changed}


def run(command: str, given: object, *options: str) -> Result:
    """`gazette event …` on standard input: text or bytes as they are, anything else as JSON."""
    raw = given if isinstance(given, str | bytes) else json.dumps(given)
    return CliRunner().invoke(app, ["event", command, "-", *options], input=raw)


@pytest.mark.parametrize(
    "given",
    [
        entry(EVENT),
        entry(json.dumps(EVENT)),
        delivered(EVENT),
        [entry(EVENT), delivered(EVENT)],
        f"{json.dumps(entry(EVENT))}\n\n{json.dumps(delivered(EVENT))}\r\n",
        "\ufeff" + json.dumps(entry(EVENT)),
    ],
)
def test_event_is_valid_in_every_common_form(given: object) -> None:
    result = run("lint", given)
    assert result.exit_code == 0
    assert "ok: event.created: comment e1 on post#p1 for ann (" in result.stdout
    assert "problem" not in result.output


def test_every_event_problem_is_reported_with_its_field() -> None:
    result = run("lint", entry({"id": "", "category": "No", "occurred_at": 1, "more": 2}))
    assert result.exit_code == 1
    for field in ("id", "category", "occurred_at", "more", "user_id", "entity"):
        assert f"\n  detail.{field}: " in result.stdout
    assert "6 problems" in result.stdout


def test_every_invalid_event_of_a_list_is_reported() -> None:
    events = [event(id=""), event(), *(event(user_id="") for _ in range(5)), {"events": []}]
    result = run("lint", entry({"events": events}))
    assert result.exit_code == 1
    for place in (0, 2, 3, 4, 5, 6, 7):
        assert f"  detail.events.{place}." in result.stdout
    assert "  detail.events.1." not in result.stdout


def test_lists_of_profiles_and_follows_are_described() -> None:
    people = [profile("ann"), profile("bo@example.com", email="bo@example.com")]
    found = run("lint", entry({"subscribers": people}, "subscriber.changed"))
    assert "ok: subscriber.changed: 2 profiles of ann and bo@example.com (" in found.stdout
    assert found.stdout.count("warning: user_id: looks like an email address.") == 1
    follows = entry({"follows": [follow("ann"), follow("bo")]}, "follow.created")
    assert "ok: follow.created: 2 follows of ann and bo (" in run("lint", follows).stdout
    wrong = run("lint", entry({"follows": [follow("ann"), {}]}, "follow.created"))
    assert wrong.exit_code == 1
    assert "  detail.follows.1.user_id: Field required" in wrong.stdout


def test_profile_in_a_list_sets_the_language_of_the_preview() -> None:
    people = entry({"subscribers": [profile("ann", locale="de")]}, "subscriber.changed")
    assert "Bo gefällt das" in run("preview", [entry(LATER), people]).stdout


@pytest.mark.parametrize(
    "detail", [event(user_id="ann@example.com"), {"events": [EVENT, event(user_id="ann@x.org")]}]
)
def test_address_used_as_an_id_is_accepted_with_a_warning(detail: dict[str, Any]) -> None:
    found = run("lint", entry(detail))
    assert found.exit_code == 0
    assert found.stdout.count("warning: user_id: looks like an email address.") == 1
    assert "warning" not in run("lint", entry(EVENT)).stdout


def test_event_by_its_own_reader_is_accepted_and_shown() -> None:
    """It comes to them, as any event that a service addresses."""
    about = entry(event(actor={"id": "ann", "name": "Ann"}))
    found = run("lint", about)
    assert found.exit_code == 0
    assert "warning" not in found.stdout
    assert "Ann commented" in run("preview", about).stdout


def test_each_entry_of_a_file_has_a_separate_result() -> None:
    result = run("lint", [entry(EVENT), entry({}), 7, {"other": 1}])
    assert result.exit_code == 1
    starts = [line for line in result.stdout.splitlines() if line.startswith("entry")]
    assert [line.split(" (")[0].split(": ")[:2] for line in starts] == [
        ["entry 1", "ok"],
        ["entry 2", "5 problems"],
        ["entry 3", "1 problem"],
        ["entry 4", "1 problem"],
    ]
    assert result.stdout.count("is not an event: specify DetailType and Detail") == 2


def test_invalid_json_line_is_reported_with_its_number() -> None:
    result = run("lint", f"{json.dumps(entry(EVENT))}\n{{oops\n{json.dumps(entry(EVENT))}")
    assert result.exit_code == 1
    assert "line 1: ok" in result.stdout
    assert "line 2: 1 problem" in result.stdout
    assert "line 3: ok" in result.stdout


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"Source": ""}, "Source: is missing"),
        ({"Source": "aws.s3"}, "Source: must not begin with aws."),
        ({"Sauce": "x"}, "Sauce: is not a field of a PutEvents entry; did you mean Source?"),
        ({"EventBusname": "gazette"}, "a PutEvents entry; did you mean EventBusName?"),
        ({"Eventbus": "gazette"}, "a PutEvents entry; did you mean EventBusName?"),
        ({"Frobnicate": 1}, "Frobnicate: is not a field of a PutEvents entry\n"),
        ({"Source": " "}, "Source: is missing"),
        ({"Source": "shop "}, "Source: must not begin or end with a space"),
        (
            {"EventBusName": "gazete"},
            "EventBusName: is 'gazete', but the stage receives events only from the bus",
        ),
        ({"EventBusName": "Gazette"}, "EventBusName: is 'Gazette', but"),
        ({"EventBusName": "default"}, "receives events only from the bus"),
        ({"EventBusName": ""}, "EventBusName: is ''"),
        ({"EventBusName": 7}, "EventBusName: must be text, such as gazette"),
        ({"EventBusName": "arn:aws:events:eu-west-1:123456789012:event-bus/x"}, "event-bus/x'"),
        ({"Detail": "{"}, "detail: is a string that is not JSON"),
        ({"Detail": "[" * 100_000}, "nested too deeply"),
        ({"DetailType": "event.made"}, "detail-type: 'event.made' is not one of"),
        ({"Detail": None}, "detail: must be an object"),
        ({"Detail": event(amended_at="2199-01-01T00:00:00Z")}, "more than an hour ahead"),
    ],
)
def test_entry_rejected_by_the_bus_or_ingest_is_reported(changed: Any, said: str) -> None:
    result = run("lint", {**entry(EVENT), **changed})
    assert result.exit_code == 1
    assert said in result.stdout
    assert "1 problem" in result.stdout


@pytest.mark.parametrize(
    "named", ["gazette", "arn:aws:events:eu-west-1:123456789012:event-bus/gazette"]
)
def test_entry_may_name_the_bus_of_the_stage(named: str) -> None:
    assert run("lint", {**entry(EVENT), "EventBusName": named}).exit_code == 0


def test_bus_must_be_in_the_account_and_region_of_the_stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    valid = {"sender": "a@example.com", "list_id": "b.example", "bus": "shop"}
    stages = {"prod": {**valid, "account": "123456789012", "region": "eu-west-1"}}
    (tmp_path / "cdk.json").write_text(json.dumps({"context": {"stages": stages}}))
    monkeypatch.chdir(tmp_path)
    for right in ("shop", "arn:aws:events:eu-west-1:123456789012:event-bus/shop"):
        assert run("lint", {**entry(EVENT), "EventBusName": right}).exit_code == 0
    for wrong in (
        "gazette",
        "arn:aws:events:eu-west-2:123456789012:event-bus/shop",
        "arn:aws:events:eu-west-1:210987654321:event-bus/shop",
        "arn:aws:events:eu-west-1:123456789012:event-bus/gazette",
    ):
        result = run("lint", {**entry(EVENT), "EventBusName": wrong})
        assert result.exit_code == 1
        assert (
            "the bus shop, account 123456789012, region eu-west-1 (`bus` setting)" in result.stdout
        )


@pytest.mark.parametrize(
    ("misspelt", "right"),
    [
        ("DetailTyp", "DetailType"),
        ("detailType", "DetailType"),
        ("Detials", "Detail"),
        ("Sorce", "Source"),
        ("source_", "Source"),
    ],
)
def test_misspelled_entry_field_is_reported_with_a_suggestion(misspelt: str, right: str) -> None:
    given = entry(EVENT)
    given[misspelt] = given.pop(right)
    result = run("lint", given)
    assert result.exit_code == 1
    assert (
        f"{misspelt}: is not a field of a PutEvents entry; did you mean {right}?" in result.stdout
    )


@pytest.mark.parametrize(
    ("misspelt", "right"),
    [
        ("detail_type", "detail-type"),
        ("DetailType", "detail-type"),
        ("details", "detail"),
        ("sorce", "source"),
        ("Source", "source"),
    ],
)
def test_misspelled_envelope_field_is_reported_with_a_suggestion(misspelt: str, right: str) -> None:
    given = delivered(EVENT)
    given[misspelt] = given.pop(right)
    result = run("lint", given)
    assert result.exit_code == 1
    assert (
        f"{misspelt}: is not a field of an event envelope; did you mean {right}?" in result.stdout
    )


def test_delivered_or_replayed_envelope_has_no_unknown_fields() -> None:
    whole = json.loads(envelope("event.created", EVENT, source="shop"))
    assert run("lint", whole).exit_code == 0
    assert run("lint", {**whole, "replay-name": "again"}).exit_code == 0


def padded(size: int) -> dict[str, Any]:
    """An entry of `size` bytes: of its text each ü counts twice, and its time as 14."""
    made = {**entry(""), "Time": "2026-11-21T09:30:00Z", "Resources": ["ü"]}
    detail = json.dumps(EVENT)
    room = size - len("shop") - len("event.created") - 14 - 2 - len(detail)
    return {**made, "Detail": detail + " " * room}


@pytest.mark.parametrize(
    ("size", "billed"), [(65_536, "1 event"), (65_537, "2 events"), (LIMIT - 1, "16 events")]
)
def test_entry_size_is_counted_as_in_aws_and_billed_by_64_kb(size: int, billed: str) -> None:
    result = run("lint", padded(size))
    assert result.exit_code == 0
    assert f"({size:,} bytes, billed as {billed})" in result.stdout


def test_entry_of_a_megabyte_is_too_large() -> None:
    result = run("lint", padded(LIMIT))
    assert result.exit_code == 1
    assert "size: must be less than 1,000,000 bytes" in result.stdout


@pytest.fixture
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a stage `prod` that names the hosts of its links, and others."""
    valid = {"sender": "a@example.com", "list_id": "b.example"}
    stages = {
        "prod": {**valid, "link_hosts": ["shop.example"]},
        "test": valid,
        "broken": {**valid, "link_hosts": ["https://shop.example"]},
        "twice": {**valid, "link_hosts": ["https://shop.example"], "account": "1234"},
    }
    (tmp_path / "cdk.json").write_text(json.dumps({"context": {"stages": stages}}))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("named")
def test_attack_link_to_a_disallowed_host_is_reported() -> None:
    result = run("lint", entry(EVENT))
    assert result.exit_code == 1
    assert (
        "  detail.entity.url: must not point to example.com, which is not in the stage's "
        "setting link_hosts\n" in result.stdout
    )
    shown = run("preview", entry({"events": [EVENT]}))
    assert (shown.exit_code, shown.stdout) == (1, "")


def test_attack_event_from_an_unauthorized_source_is_reported(named: Path) -> None:
    stages: dict[str, Any] = {"prod": {"sender": "a@example.com", "list_id": "b.example"}}
    stages["prod"] |= {"sources": {"event.created": ["shop.comments"]}}
    (named / "cdk.json").write_text(json.dumps({"context": {"stages": stages}}))
    for source, exit_code in (("shop.comments", 0), ("shop.likes", 1)):
        result = run("lint", {**entry(EVENT), "Source": source})
        assert result.exit_code == exit_code, source
        told = "event.created came from the source 'shop.likes'" in result.stdout
        assert told == bool(exit_code)


REPORT = {
    "reference": "ann-daily-17.2.1795248002.5f0c8a1be27d43966f1e0c9ab8d7e254",
    "recipient": "ann@example.com",
    "type": "bounced",
    "at": "2026-11-21T08:00:05Z",
    "bounce": "permanent",
}


def test_delivery_report_is_checked_like_other_events(named: Path) -> None:
    stages: dict[str, Any] = {"prod": {"sender": "a@example.com", "list_id": "b.example"}}
    stages["prod"] |= {"sources": {"delivery.reported": ["shop.mailgun"]}}
    (named / "cdk.json").write_text(json.dumps({"context": {"stages": stages}}))

    def lint(**changed: str) -> Result:
        detail = entry({**REPORT, **changed}, "delivery.reported")
        return run("lint", {**detail, "Source": "shop.mailgun"})

    result = lint()
    assert result.exit_code == 0, result.output
    assert (
        "delivery.reported: bounced at 21 November 2026, 08:00 UTC: attempt 2 of run ann-daily-17, "
        "if the stage made the reference" in result.stdout
    )
    for changed, words in (
        ({"at": "2199-01-01T00:00:00Z"}, "detail.at: is more than an hour ahead of now"),
        ({"bounce": "hard"}, "detail.bounce: must be 'permanent' or 'transient'"),
        ({"reference": "ann-daily-17"}, "detail.reference: must be the value of the email's"),
    ):
        result = lint(**changed)
        assert result.exit_code == 1
        assert words in result.stdout
    shown = run("preview", {**entry(REPORT, "delivery.reported"), "Source": "shop.mailgun"})
    assert (shown.exit_code, shown.stdout.startswith("delivery.reported: bounced")) == (0, True)


def schema_of_comments(project: Path, schema: dict[str, Any]) -> None:
    """The stage `prod` has templates of its own, with a schema for the data of comments."""
    own = project / "ours"
    stage = {"sender": "a@example.com", "list_id": "b.example", "templates": str(own)}
    (project / "cdk.json").write_text(json.dumps({"context": {"stages": {"prod": stage}}}))
    file = own / "categories" / "comment" / "data.schema.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(schema))


def test_data_that_violates_its_category_schema_is_reported(named: Path) -> None:
    schema_of_comments(named, {"properties": {"stars": {"type": "integer"}}, "required": ["stars"]})
    for data, exit_code in (({"stars": 5}, 0), ({"stars": "five"}, 1)):
        result = run("lint", entry(event(data=data)))
        assert result.exit_code == exit_code, result.output
        told = "\n  detail.data.stars: must be integer\n" in result.stdout
        assert told == bool(exit_code)
    assert "  detail.data.stars: Field required" in run("lint", entry(EVENT)).stdout
    assert run("preview", entry(EVENT)).exit_code == 1


def test_invalid_schema_is_reported_on_a_single_line(named: Path) -> None:
    schema_of_comments(named, {"requried": ["stars"]})
    result = run("lint", entry(EVENT))
    assert result.exit_code == 2
    assert "data.schema.json:1: at the top: draft 07 has no keyword 'requried'" in result.output
    assert "Traceback" not in result.output


@pytest.mark.usefixtures("named")
def test_link_hosts_depend_on_the_stage() -> None:
    for subcommand in ("lint", "preview"):
        assert run(subcommand, entry(EVENT), "--stage", "test").exit_code == 0


@pytest.mark.usefixtures("named")
@pytest.mark.parametrize(
    ("stage", "said"),
    [
        ("none", "There is no stage 'none' in cdk.json"),
        (
            "broken",
            "Stage 'broken' in cdk.json: link_hosts is wrong: 'https://shop.example' is not a host",
        ),
    ],
)
def test_unreadable_stage_is_reported_on_a_single_line(stage: str, said: str) -> None:
    for subcommand in ("lint", "preview"):
        result = run(subcommand, entry(EVENT), "--stage", stage)
        assert (result.exit_code, result.stdout) == (2, "")
        assert len(result.stderr.splitlines()) == 1
        assert said in result.stderr


@pytest.mark.usefixtures("named")
def test_each_mistake_of_a_stage_is_reported_on_a_separate_line() -> None:
    result = run("lint", entry(EVENT), "--stage", "twice")
    begin = "gazette: Stage 'twice' in cdk.json: "
    lines = result.stderr.splitlines()
    assert [line.removeprefix(begin).split()[0] for line in lines] == ["account", "link_hosts"]
    in_json = run("lint", entry(EVENT), "--stage", "twice", "--json")
    assert json.loads(in_json.stderr)["exit_code"] == 2


@pytest.mark.parametrize("command", ["lint", "preview"])
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        ("hello", "is not JSON"),
        ('{\n  "DetailType": "event.created",\n}', "is not JSON"),
        (b"\xff\xfe\x00binary", "is not encoded in UTF-8"),
        ("[" * 100_000, "is nested too deeply"),
        ("NaN", "is not JSON"),
    ],
)
def test_unreadable_event_prints_a_single_line_to_stderr(
    command: str, given: str | bytes, said: str
) -> None:
    result = run(command, given)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("gazette: standard input ")
    assert said in result.stderr


def test_path_without_a_file_is_reported_on_a_single_line(tmp_path: Path) -> None:
    for path, said in (
        (tmp_path / "none.json", "does not exist"),
        (tmp_path, "is a folder"),
        (tmp_path / ("x" * 300), "is unreadable"),
    ):
        result = CliRunner().invoke(app, ["event", "lint", str(path)])
        assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
        assert said in result.stderr


def test_long_lines_are_not_wrapped_and_control_characters_are_escaped() -> None:
    result = run("lint", entry(event(**{"\x1b[31m" + "x" * 30: 1})))
    assert "\x1b" not in result.output
    title = "A title " * 20
    shown = run("preview", entry(event(entity={**EVENT["entity"], "title": title}))).stdout
    assert f"  {title}\n" in shown


def test_events_are_previewed_as_ordered_in_a_digest() -> None:
    mine = [
        event(id="a", category="like", occurred_at="2026-11-21T11:00:00Z", excerpt=""),
        event(id="b"),
        event(id="c", actor={"id": "cy", "name": "Cy"}, occurred_at="2026-11-21T08:00:00Z"),
    ]
    result = run("preview", [entry({"events": mine})])
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "To ann:",
        "",
        "  On digests",
        "    2 new comments from Bo and Cy",
        '    "Well said."',
        "    21 November 2026, 09:30 UTC",
        "    https://example.com/p1",
        "    group: comment, post, p1",
        "",
        "  On digests",
        "    Bo liked this",
        "    21 November 2026, 11:00 UTC",
        "    https://example.com/p1",
        "    group: like, post, p1",
    ]


@pytest.fixture
def ours(named: Path) -> Path:
    """The templates of its own that the stage `prod` has."""
    own = named / "ours"
    stage = {
        "sender": "a@example.com",
        "list_id": "b.example",
        "templates": str(own),
        "ranking": "latest",
    }
    (named / "cdk.json").write_text(json.dumps({"context": {"stages": {"prod": stage}}}))
    for name, text in {
        "brand.json": '{"name": "Shop", "postal_address": "1 Street"}',
        "categories/comment/line.txt": "{{ brand.name }}: {{ people }} said more",
        "categories/like/line.txt": "{% trans %}Yesterday{% endtrans %}",
        "variations/2/categories/comment/line.txt": "the second variation",
        "variations/2/variation.json": '{"ranking": "relevance"}',
    }.items():
        (own / name).parent.mkdir(parents=True, exist_ok=True)
        (own / name).write_text(text)
    return own


LATER = event(id="e2", category="like", occurred_at="2026-11-21T11:00:00Z")
LATER["entity"] = {**EVENT["entity"], "id": "p2", "title": "Later"}


@pytest.mark.usefixtures("ours")
def test_preview_uses_the_templates_and_weights_of_the_stage() -> None:
    shown = run("preview", entry({"events": [EVENT, LATER]})).stdout
    assert "    Shop: Bo said more\n" in shown
    assert shown.index("Later") < shown.index("On digests")


@pytest.mark.usefixtures("ours")
def test_preview_uses_the_readers_or_the_requested_language() -> None:
    german = [entry({**PROFILE, "locale": "de"}, "subscriber.changed"), entry(LATER)]
    assert "    Gestern\n" in run("preview", german).stdout
    assert "    Gestern\n" in run("preview", entry(LATER), "--locale", "de").stdout
    assert "    Yesterday\n" in run("preview", german, "--locale", "en").stdout
    other = run("preview", entry(LATER), "--locale", "fr")
    assert "The preview is in English" in other.stderr
    assert "    Yesterday\n" in other.stdout


@pytest.mark.usefixtures("ours")
def test_preview_can_use_a_variation() -> None:
    shown = run("preview", entry({"events": [EVENT, LATER]}), "--variation", "2").stdout
    assert "    the second variation\n" in shown
    assert shown.index("On digests") < shown.index("Later")
    refused = run("preview", entry(EVENT), "--variation", "3")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "Variation 3 does not exist" in refused.stderr


def test_preview_names_file_and_line_of_a_template_error(ours: Path) -> None:
    file = ours / "categories/comment/line.txt"
    file.write_text("\n{{ missing }}")
    result = run("preview", entry(EVENT))
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{file}:2: 'missing' is undefined" in result.stderr.replace("\n", "")


def test_preview_shows_the_latest_amendment_of_an_event() -> None:
    amended = event(amended_at="2026-11-21T10:00:00Z", excerpt="Better said.")
    result = run("preview", [entry(EVENT), entry(amended), entry(EVENT)])
    assert "Bo commented" in result.stdout
    assert '"Better said."' in result.stdout


def test_activity_is_previewed_as_for_a_follower() -> None:
    activity = {name: value for name, value in EVENT.items() if name != "user_id"}
    result = run("preview", entry(activity, "activity.created"))
    assert result.stdout.startswith("To a follower:\n")
    assert "Bo commented" in result.stdout


@pytest.mark.parametrize(
    ("detail_type", "detail", "line"),
    [
        (
            "subscriber.changed",
            PROFILE,
            f"{DAILY}; comment immediate, like never",
        ),
        (
            "subscriber.changed",
            {
                **PROFILE,
                "digest": {"weekly": {"day": "friday"}, "custom": {"days": ["sunday", "tuesday"]}},
                "frequencies": {"like": "weekly", "mention": "custom"},
            },
            f"{DAILY}; like weekly on Friday, mention custom on Tuesday and Sunday",
        ),
        (
            "subscriber.changed",
            {**PROFILE, "digest": {"paused_until": "2026-12-14"}},
            f"{DAILY}, and no email before 14 December 2026; comment immediate, like never",
        ),
        (
            "preferences.chosen",
            {
                "user_id": "ann",
                "chosen_at": "2026-11-21T09:00:00Z",
                "frequency": "weekly",
                "frequencies": {"like": "never"},
                "time_zone": "Asia/Tokyo",
                "digest": {
                    "hour": 7,
                    "weekly": {"day": "friday"},
                    "custom": {"day_of_month": 1},
                    "paused_until": "2026-12-14",
                },
            },
            (
                "ann chose at 21 November 2026, 09:00 UTC: everything else weekly; like never; "
                "between 07:00 and 07:50; weekly on Friday; custom on day 1 of the month; no "
                "email before 14 December 2026; Asia/Tokyo"
            ),
        ),
        (
            "preferences.chosen",
            {
                "user_id": "ann",
                "chosen_at": "2026-11-21T09:00:00Z",
                "frequencies": {},
                "digest": {"hour": 7, "minute": 5},
            },
            "ann chose at 21 November 2026, 09:00 UTC: at 07:05",
        ),
        (
            "subscriber.active",
            {"user_id": "ann", "active_at": "2026-11-21T09:00:00Z"},
            "ann was active at 21 November 2026, 09:00 UTC",
        ),
        (
            "entity.seen",
            {
                "user_id": "ann",
                "entity": {"type": "post", "id": "p1"},
                "seen_at": "2026-11-21T09:00:00Z",
            },
            "ann has seen post#p1, and its events up to 21 November 2026, 09:00 UTC",
        ),
        (
            "subscriber.deleted",
            {"user_id": "ann", "deleted_at": "2026-11-21T09:00:00Z"},
            "erases ann, unless the profile changed after 21 November 2026, 09:00 UTC",
        ),
        (
            "follow.created",
            {
                "user_id": "ann",
                "entity": {"type": "post", "id": "p1"},
                "changed_at": "2026-11-21T09:00:00Z",
                "frequency": "never",
            },
            "ann follows post#p1 from 21 November 2026, 09:00 UTC on, and mutes the entity",
        ),
        (
            "follow.deleted",
            {
                "user_id": "ann",
                "entity": {"type": "post", "id": "p1"},
                "changed_at": "2026-11-21T09:00:00Z",
            },
            "ann no longer follows post#p1 from 21 November 2026, 09:00 UTC on",
        ),
        (
            "event.retracted",
            {"id": "e1", "user_id": "ann"},
            "retracts event e1 of ann, unless it was sent",
        ),
        (
            "event.retracted",
            {"id": "e1", "entity": {"type": "post", "id": "p1"}},
            "retracts activity e1 on post#p1 for all followers, unless it was sent",
        ),
    ],
)
def test_preview_describes_non_event_types_on_a_single_line(
    detail_type: str, detail: dict[str, Any], line: str
) -> None:
    result = run("preview", entry(detail, detail_type))
    assert (result.exit_code, result.stdout) == (0, f"{detail_type}: {line}\n")


def test_preview_shows_valid_events_and_names_invalid_events() -> None:
    result = run("preview", [entry({"events": [event(), event(user_id="")]}), entry({})])
    assert result.exit_code == 1
    assert "Bo commented" in result.stdout
    assert "Gazette would reject entry 1, entry 2." in result.stderr


def test_documented_examples_are_valid(tmp_path: Path) -> None:
    written = CliRunner().invoke(app, ["event", "schemas", str(tmp_path)])
    assert written.exit_code == 0
    assert set(map(Path, written.stdout.splitlines())) == set(tmp_path.iterdir())
    examples = sorted(tmp_path.glob("*.example.json"))
    assert examples
    for path in examples:
        result = CliRunner().invoke(app, ["event", "lint", str(path)])
        if path.name.startswith("delivery.reported."):  # needs an entry in `sources`
            assert (result.exit_code, result.stdout.count("\n  ")) == (1, 1)
            assert "The setting sources lists no source for delivery.reported" in result.stdout
        else:
            assert result.exit_code == 0, result.output


def test_schema_output_failure_is_reported_on_a_single_line(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    result = CliRunner().invoke(app, ["event", "schemas", str(tmp_path / "taken")])
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)


def test_installed_command_works_from_any_directory(tmp_path: Path) -> None:
    command = Path(sys.executable).parent / "gazette"
    result = subprocess.run(
        [command, "event", "preview", "-"],
        input=json.dumps(entry(EVENT)),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Bo commented" in result.stdout
