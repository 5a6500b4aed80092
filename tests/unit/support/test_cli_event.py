"""`gazette event`: what people see of their events before they are put on the bus."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cli.events import command
from cli.events.envelopes import LIMIT
from cli.main import app
from tests.functions.messages import envelope

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
def test_an_event_is_fine_in_every_usual_form(given: object) -> None:
    result = run("lint", given)
    assert result.exit_code == 0
    assert "ok: event.created: comment e1 on post#p1 for ann (" in result.stdout
    assert "problem" not in result.output


def test_every_problem_of_an_event_is_told_with_its_field() -> None:
    result = run("lint", entry({"id": "", "category": "No", "occurred_at": 1, "more": 2}))
    assert result.exit_code == 1
    for field in ("id", "category", "occurred_at", "more", "user_id", "entity"):
        assert f"\n  detail.{field}: " in result.stdout
    assert "6 problems" in result.stdout


def test_every_bad_event_of_a_list_is_told() -> None:
    events = [event(id=""), event(), *(event(user_id="") for _ in range(5)), {"events": []}]
    result = run("lint", entry({"events": events}))
    assert result.exit_code == 1
    for place in (0, 2, 3, 4, 5, 6, 7):
        assert f"  detail.events.{place}." in result.stdout
    assert "  detail.events.1." not in result.stdout


@pytest.mark.parametrize(
    "detail", [event(user_id="ann@example.com"), {"events": [EVENT, event(user_id="ann@x.org")]}]
)
def test_an_address_as_an_id_is_accepted_with_a_warning(detail: dict[str, Any]) -> None:
    found = run("lint", entry(detail))
    assert found.exit_code == 0
    assert found.stdout.count("warning: user_id: looks like an email address.") == 1
    assert "warning" not in run("lint", entry(EVENT)).stdout


def test_an_event_about_its_reader_is_accepted_and_shown() -> None:
    """It comes to them, as any event that a service addresses."""
    about = entry(event(actor={"id": "ann", "name": "Ann"}))
    found = run("lint", about)
    assert found.exit_code == 0
    assert "warning" not in found.stdout
    assert "Ann commented" in run("preview", about).stdout


def test_each_entry_of_a_file_has_its_own_result() -> None:
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


def test_a_line_that_is_no_json_is_a_problem_of_that_line() -> None:
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
def test_what_the_bus_or_ingest_would_not_take_is_told(changed: Any, said: str) -> None:
    result = run("lint", {**entry(EVENT), **changed})
    assert result.exit_code == 1
    assert said in result.stdout
    assert "1 problem" in result.stdout


@pytest.mark.parametrize(
    "named", ["gazette", "arn:aws:events:eu-west-1:123456789012:event-bus/gazette"]
)
def test_an_entry_may_name_the_bus_of_the_stage(named: str) -> None:
    assert run("lint", {**entry(EVENT), "EventBusName": named}).exit_code == 0


def test_the_bus_is_that_of_the_stage_in_its_account_and_region(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    valid = {"sender": "a@example.com", "list_id": "b.example", "bus": "shop"}
    stages = {"prod": {**valid, "account": "123456789012", "region": "eu-west-1"}}
    (tmp_path / "cdk.json").write_text(json.dumps({"context": {"stages": stages}}))
    monkeypatch.setattr(command, "_PROJECT", tmp_path)
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
        assert "the bus shop, account 123456789012, region eu-west-1 (setting bus)" in result.stdout


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
def test_a_misspelt_field_of_an_entry_is_told_with_the_right_one(misspelt: str, right: str) -> None:
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
def test_a_misspelt_field_of_an_envelope_is_told_with_the_right_one(
    misspelt: str, right: str
) -> None:
    given = delivered(EVENT)
    given[misspelt] = given.pop(right)
    result = run("lint", given)
    assert result.exit_code == 1
    assert (
        f"{misspelt}: is not a field of an event envelope; did you mean {right}?" in result.stdout
    )


def test_an_envelope_as_eventbridge_delivers_or_replays_it_has_no_unknown_field() -> None:
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
def test_the_size_is_counted_as_aws_does_and_billed_by_64_kb(size: int, billed: str) -> None:
    result = run("lint", padded(size))
    assert result.exit_code == 0
    assert f"({size:,} bytes, billed as {billed})" in result.stdout


def test_an_entry_of_a_megabyte_is_too_large() -> None:
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
    shutil.copytree(command._PROJECT / "templates", tmp_path / "templates")
    (tmp_path / "cdk.json").write_text(json.dumps({"context": {"stages": stages}}))
    monkeypatch.setattr(command, "_PROJECT", tmp_path)
    return tmp_path


@pytest.mark.usefixtures("named")
def test_attack_a_link_to_a_host_that_the_stage_does_not_allow_is_told() -> None:
    result = run("lint", entry(EVENT))
    assert result.exit_code == 1
    assert (
        "  detail.entity.url: must not lead to example.com: link_hosts, a setting of the stage, "
        "does not name this host\n" in result.stdout
    )
    shown = run("preview", entry({"events": [EVENT]}))
    assert (shown.exit_code, shown.stdout) == (1, "")


def test_attack_a_source_that_may_not_put_an_event_is_told(named: Path) -> None:
    stages: dict[str, Any] = {"prod": {"sender": "a@example.com", "list_id": "b.example"}}
    stages["prod"] |= {"sources": {"event.created": ["shop.comments"]}}
    (named / "cdk.json").write_text(json.dumps({"context": {"stages": stages}}))
    for source, exit_code in (("shop.comments", 0), ("shop.likes", 1)):
        result = run("lint", {**entry(EVENT), "Source": source})
        assert result.exit_code == exit_code, source
        told = "event.created came from the source 'shop.likes'" in result.stdout
        assert told == bool(exit_code)


def schema_of_comments(project: Path, schema: dict[str, Any]) -> None:
    """The stage `prod` has templates of its own, with a schema for the data of comments."""
    own = project / "ours"
    stage = {"sender": "a@example.com", "list_id": "b.example", "templates": str(own)}
    (project / "cdk.json").write_text(json.dumps({"context": {"stages": {"prod": stage}}}))
    file = own / "categories" / "comment" / "data.schema.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(schema))


def test_data_that_the_schema_of_its_category_does_not_allow_is_told(named: Path) -> None:
    schema_of_comments(named, {"properties": {"stars": {"type": "integer"}}, "required": ["stars"]})
    for data, exit_code in (({"stars": 5}, 0), ({"stars": "five"}, 1)):
        result = run("lint", entry(event(data=data)))
        assert result.exit_code == exit_code, result.output
        told = "\n  detail.data.stars: must be integer\n" in result.stdout
        assert told == bool(exit_code)
    assert "  detail.data.stars: Field required" in run("lint", entry(EVENT)).stdout
    assert run("preview", entry(EVENT)).exit_code == 1


def test_a_schema_that_is_none_is_one_line(named: Path) -> None:
    schema_of_comments(named, {"requried": ["stars"]})
    result = run("lint", entry(EVENT))
    assert result.exit_code == 2
    assert "data.schema.json, at the top: draft 07 has no 'requried'" in result.output
    assert "Traceback" not in result.output


@pytest.mark.usefixtures("named")
def test_another_stage_has_other_hosts() -> None:
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
def test_a_stage_that_cannot_be_read_is_one_line(stage: str, said: str) -> None:
    for subcommand in ("lint", "preview"):
        result = run(subcommand, entry(EVENT), "--stage", stage)
        assert (result.exit_code, result.stdout) == (2, "")
        assert len(result.stderr.splitlines()) == 1
        assert said in result.stderr


@pytest.mark.usefixtures("named")
def test_a_stage_with_several_mistakes_has_a_line_for_each() -> None:
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
def test_an_unreadable_event_prints_one_line_to_stderr(
    command: str, given: str | bytes, said: str
) -> None:
    result = run(command, given)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("gazette: standard input ")
    assert said in result.stderr


def test_a_path_that_holds_no_file_is_one_line(tmp_path: Path) -> None:
    for path, said in (
        (tmp_path / "none.json", "does not exist"),
        (tmp_path, "is a folder"),
        (tmp_path / ("x" * 300), "is unreadable"),
    ):
        result = CliRunner().invoke(app, ["event", "lint", str(path)])
        assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
        assert said in result.stderr


def test_long_lines_are_not_wrapped_and_cannot_steer_a_terminal() -> None:
    result = run("lint", entry(event(**{"\x1b[31m" + "x" * 30: 1})))
    assert "\x1b" not in result.output
    title = "A title " * 20
    shown = run("preview", entry(event(entity={**EVENT["entity"], "title": title}))).stdout
    assert f"  {title}\n" in shown


def test_events_read_as_in_a_digest_in_its_order() -> None:
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
def test_lines_are_those_of_the_stages_own_templates_in_its_order() -> None:
    shown = run("preview", entry({"events": [EVENT, LATER]})).stdout
    assert "    Shop: Bo said more\n" in shown
    assert shown.index("Later") < shown.index("On digests")


@pytest.mark.usefixtures("ours")
def test_lines_are_in_the_language_of_the_reader_or_in_one_that_is_named() -> None:
    german = [entry({**PROFILE, "locale": "de"}, "subscriber.changed"), entry(LATER)]
    assert "    Gestern\n" in run("preview", german).stdout
    assert "    Gestern\n" in run("preview", entry(LATER), "--locale", "de").stdout
    assert "    Yesterday\n" in run("preview", german, "--locale", "en").stdout
    other = run("preview", entry(LATER), "--locale", "fr")
    assert "The preview is in English" in other.stderr
    assert "    Yesterday\n" in other.stdout


@pytest.mark.usefixtures("ours")
def test_lines_are_those_of_a_variation() -> None:
    shown = run("preview", entry({"events": [EVENT, LATER]}), "--variation", "2").stdout
    assert "    the second variation\n" in shown
    assert shown.index("On digests") < shown.index("Later")
    refused = run("preview", entry(EVENT), "--variation", "3")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "Variation 3 does not exist" in refused.stderr


def test_a_line_that_cannot_be_written_is_named_with_file_and_line(ours: Path) -> None:
    file = ours / "categories/comment/line.txt"
    file.write_text("\n{{ missing }}")
    result = run("preview", entry(EVENT))
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{file}, line 2: 'missing' is undefined" in result.stderr.replace("\n", "")


def test_an_id_that_comes_again_is_one_event_and_its_latest_amendment_speaks() -> None:
    amended = event(amended_at="2026-11-21T10:00:00Z", excerpt="Better said.")
    result = run("preview", [entry(EVENT), entry(amended), entry(EVENT)])
    assert "Bo commented" in result.stdout
    assert '"Better said."' in result.stdout


def test_an_activity_reads_as_for_a_follower() -> None:
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
            "ann follows post#p1 from 21 November 2026, 09:00 UTC on, and mutes it",
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
def test_other_types_say_in_one_line_what_they_do(
    detail_type: str, detail: dict[str, Any], line: str
) -> None:
    result = run("preview", entry(detail, detail_type))
    assert (result.exit_code, result.stdout) == (0, f"{detail_type}: {line}\n")


def test_a_preview_shows_valid_events_and_names_invalid_ones() -> None:
    result = run("preview", [entry({"events": [event(), event(user_id="")]}), entry({})])
    assert result.exit_code == 1
    assert "Bo commented" in result.stdout
    assert "Gazette would reject entry 1, entry 2." in result.stderr


def test_the_published_examples_are_fine(tmp_path: Path) -> None:
    written = CliRunner().invoke(app, ["event", "schemas", str(tmp_path)])
    assert written.exit_code == 0
    assert set(map(Path, written.stdout.splitlines())) == set(tmp_path.iterdir())
    examples = sorted(tmp_path.glob("*.example.json"))
    assert examples
    for path in examples:
        result = CliRunner().invoke(app, ["event", "lint", str(path)])
        assert result.exit_code == 0, result.output


def test_schemas_that_cannot_be_written_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    result = CliRunner().invoke(app, ["event", "schemas", str(tmp_path / "taken")])
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)


def test_the_command_is_installed_and_works_from_anywhere(tmp_path: Path) -> None:
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
