"""`gazette templates` on moto: what it stores, what is in force, and which emails readers get."""

import io
import json
import shutil
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import boto3
import pytest
from gazette.adapters.dynamodb.control.template_versions import DynamoTemplateVersions
from gazette.domain.errors import Unavailable
from gazette.domain.templates.versions import DEPLOYED, NOTHING_PUSHED, InForce, version_for
from gazette.settings.delivery import GenerateSettings
from gazette.settings.ranges import RANGES
from typer.testing import CliRunner, Result

from gazette_cli.main import app
from gazette_cli.templates import building, command, deployed
from tests.conftest import ROOT
from tests.functions.conftest import Cloud, fan_out, make_cold
from tests.functions.deployed import deploy, publish_layer
from tests.functions.messages import event, profile
from tests.shapes import check

SUBJECT = "digest/subject.txt"
LINE = "categories/comment/line.txt"
SCHEMA = "categories/build/data.schema.json"
BUCKET = "templates"

Write = Callable[[Mapping[str, str]], Path]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working tree of its own, whose stage `prod` has no templates of its own."""
    made = tmp_path / "tree"
    shutil.copytree(ROOT / "templates", made / "templates")
    monkeypatch.chdir(made)
    monkeypatch.setattr(building, "SOURCE", made / "templates")
    say_in_cdk_json(made)
    return made


def say_in_cdk_json(project: Path, **settings: object) -> None:
    stages = json.loads((ROOT / "cdk.json").read_text())["context"]["stages"]
    stages["prod"] |= settings
    (project / "cdk.json").write_text(json.dumps({"context": {"stages": stages}}))


@pytest.fixture
def own(tmp_path: Path) -> Write:
    """Writes a folder of templates of one's own."""

    def write(files: Mapping[str, str]) -> Path:
        folder = tmp_path / "own"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, text in files.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return folder

    return write


@pytest.fixture
def stage(cloud: Cloud, project: Path, layers: tuple[str, str]) -> Cloud:
    """A stage that was deployed from the working tree as it is."""
    deploy("generate", GenerateSettings.from_env().to_env(), *layers)
    cloud.meter.clear()
    return cloud


def run(*arguments: str, said: str = "") -> Result:
    return CliRunner().invoke(app, ["templates", *arguments], input=said)


def answered(*arguments: str, exits: int = 0) -> dict[str, Any]:
    done = run(*arguments, "--json")
    assert done.exit_code == exits, done.output
    check(f"templates {arguments[0]}", done)
    return dict(json.loads(done.stdout))


def pushed(folder: Path, *arguments: str) -> dict[str, Any]:
    return answered("push", str(folder), *arguments, "--yes")


def refused(*arguments: str) -> str:
    """The one line that says why. Nothing was stored, and nothing else is in force."""
    before = in_force(), objects()
    done = run(*arguments, "--yes") if arguments[0] != "diff" else run(*arguments)
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    assert (in_force(), objects()) == before
    (line,) = done.stderr.splitlines()
    return line


def versions() -> DynamoTemplateVersions:
    return DynamoTemplateVersions("control", ranges=RANGES)


def in_force() -> InForce:
    return versions().in_force()


def objects() -> dict[str, int]:
    """What is in the bucket: size by key."""
    found = boto3.client("s3").list_objects_v2(Bucket=BUCKET).get("Contents", [])
    return {each["Key"]: each["Size"] for each in found}


def test_pushed_bundle_is_stored_and_active_for_all_readers(
    stage: Cloud, own: Write, layers: tuple[str, str]
) -> None:
    answer = pushed(own({SUBJECT: "News"}), "--note", "shorter subjects")
    assert answer["in_force"]["version"] == answer["pushed"] == 1
    assert (answer["changed"], answer["uploaded"]) == (True, True)
    assert answer["files"] == [{"file": SUBJECT, "change": "changed", "added": 1, "removed": 13}]
    key = f"versions/000001-{answer['checksum']}.json.gz"
    assert objects() == {key: answer["bytes"]}
    (version,) = versions().history()
    assert (version.version, version.note) == (in_force().current, "shorter subjects")
    assert version.layer == layers[1]
    assert stage.meter.calls["s3.PutObject"] == 1


def test_each_template_change_records_its_author(stage: Cloud, own: Write) -> None:
    arn = boto3.client("sts").get_caller_identity()["Arn"]
    pushed(own({SUBJECT: "News"}), "--percent", "5", "--note", "a test")
    answered("rollout", "20", "--yes")
    answered("rollout", "100", "--yes")
    answered("rollback", "--yes")
    log = answered("list", "--log")["log"]
    assert [
        (each["what"], each["candidate"], each["percent"], each["version"]) for each in log
    ] == [
        ("rolled_back", None, None, 0),
        ("promoted", None, None, 1),
        ("rolled_out", 1, 20, 0),
        ("pushed", 1, 5, 0),
    ]
    assert {each["by"] for each in log} == {arn}
    assert log[-1]["note"] == "a test"
    assert [line.split("\t")[2] for line in run("list", "--log").stdout.splitlines()[1:]] == [
        "rolled_back",
        "promoted",
        "rolled_out",
        "pushed",
    ]


def digest_of(cloud: Cloud, user_id: str, number: int) -> str:
    """The subject of a reader's next digest, through the real handlers."""
    cloud.say("event.created", {**event(number), "user_id": user_id})
    cloud.meter.clear()
    cloud.work("generate", *fan_out(cloud, user_id))
    (sent,) = cloud.sent()
    return str(sent["Content"]["Simple"]["Subject"]["Data"])


def minute_later() -> None:
    """What workers keep for a minute is read anew."""
    make_cold()


@pytest.mark.long
@pytest.mark.usefixtures("later")
def test_email_is_rendered_with_the_version_in_force_for_its_reader(
    stage: Cloud, own: Write
) -> None:
    users = [f"r{number}" for number in range(12)]
    for user_id in users:
        stage.say("subscriber.changed", profile(user_id))
    pushed(own({SUBJECT: "One"}))
    pushed(own({SUBJECT: "Two"}), "--percent", "30")
    minute_later()
    expected = {user_id: version_for(user_id, in_force()).number for user_id in users}
    assert set(expected.values()) == {1, 2}
    subjects = {1: "One", 2: "Two"}
    for number, user_id in enumerate(users):
        assert digest_of(stage, user_id, number) == subjects[expected[user_id]]
    rows = {row["user_id"]: row.get("templates", 0) for row in stage.rows("runs")}
    assert rows == expected


@pytest.mark.usefixtures("later")
def test_emails_after_a_rollback_match_emails_before_the_push(stage: Cloud, own: Write) -> None:
    stage.say("subscriber.changed", profile("ann"), profile("bo"))
    pushed(own({SUBJECT: "News"}))
    minute_later()
    assert digest_of(stage, "ann", 1) == "News"
    answered("rollback", "--yes")
    minute_later()
    assert "commented on" in digest_of(stage, "bo", 2)


@pytest.mark.usefixtures("later")
def test_version_settings_arrange_emails_of_the_version(stage: Cloud, own: Write) -> None:
    stage.say("subscriber.changed", profile("ann"))
    pushed(own({"settings.json": '{"max_blocks": 1}'}))
    minute_later()
    stage.say("event.created", *(event(each, entity=f"post#p{each}") for each in (1, 2)))
    stage.meter.clear()
    stage.work("generate", *fan_out(stage))
    (sent,) = stage.sent()
    html = sent["Content"]["Simple"]["Body"]["Html"]["Data"]
    assert ("Title of post#p1" in html) + ("Title of post#p2" in html) == 1


def test_template_changes_ask_for_confirmation(stage: Cloud, own: Write) -> None:
    folder = own({SUBJECT: "News"})
    asked = run("push", str(folder), said="n\n")
    assert asked.exit_code == 1
    assert "changed: digest/subject.txt (+1 -13)" in asked.stdout
    assert "Use these templates for all readers of stage prod?" in asked.stdout
    assert (in_force(), objects()) == (NOTHING_PUSHED, {})
    assert run("push", str(folder), "--percent", "5", said="y\n").exit_code == 0
    assert run("rollout", "50", said="n\n").exit_code == 1
    assert run("rollback", said="n\n").exit_code == 1
    candidate = in_force().candidate
    assert candidate
    assert candidate.percent == 5


def test_push_without_a_folder_uses_the_folder_of_the_stage(stage: Cloud, project: Path) -> None:
    mine = project / "mine" / SUBJECT
    mine.parent.mkdir(parents=True)
    mine.write_text("Mine")
    say_in_cdk_json(project, templates=str(project / "mine"))
    assert answered("push", "--yes")["files"][0]["file"] == SUBJECT


def test_push_of_identical_templates_changes_no_data_and_succeeds(stage: Cloud, own: Write) -> None:
    nothing = pushed(own({}))
    assert (nothing["pushed"], nothing["changed"]) == (None, False)
    assert (in_force(), objects()) == (NOTHING_PUSHED, {})
    folder = own({SUBJECT: "News"})
    pushed(folder)
    before = in_force()
    again = pushed(folder)
    assert (again["pushed"], again["changed"], in_force()) == (None, False, before)
    assert (
        "nothing to push: these templates are the same as version 1"
        in run("push", str(folder)).stdout
    )


def test_partial_rollout_of_identical_templates_is_rejected(stage: Cloud, own: Write) -> None:
    said = refused("push", str(own({})), "--percent", "5")
    assert "There is nothing to roll out" in said


def test_previously_pushed_bundle_is_not_uploaded_again(stage: Cloud, own: Write) -> None:
    first = pushed(own({SUBJECT: "News"}))
    pushed(own({SUBJECT: "Other news"}))
    stage.meter.clear()
    again = pushed(own({SUBJECT: "News"}))
    assert (again["pushed"], again["uploaded"]) == (1, False)
    assert again["checksum"] == first["checksum"]
    assert stage.meter.calls["s3.PutObject"] == 0
    assert in_force().current.number == 1
    assert [each.version.number for each in versions().history()] == [2, 1]


def test_damaged_bundle_is_uploaded_again_under_its_number(stage: Cloud, own: Write) -> None:
    pushed(own({SUBJECT: "News"}))
    (key,) = objects()
    boto3.client("s3").put_object(Bucket=BUCKET, Key=key, Body=b"damaged")
    assert pushed(own({SUBJECT: "News"}))["changed"] is False
    assert objects()[key] > len(b"damaged")
    boto3.client("s3").put_object(Bucket=BUCKET, Key=key, Body=b"damaged")
    answered("rollback", "--yes")
    assert "missing or damaged" in refused("rollback", "1")
    pushed(own({SUBJECT: "News"}))
    assert objects()[key] > len(b"damaged")
    answered("rollback", "--yes")
    assert answered("rollback", "1", "--yes")["in_force"]["version"] == 1


def test_second_candidate_is_rejected_with_commands_to_end_the_first(
    stage: Cloud, own: Write
) -> None:
    pushed(own({SUBJECT: "News"}), "--percent", "5")
    for arguments in ([], ["--percent", "10"]):
        said = refused("push", str(own({SUBJECT: "Other"})), *arguments)
        assert "Version 1 is being rolled out to 5 %" in said
        assert "`gazette templates rollout 100`" in said
        assert "`gazette templates rollback`" in said


def test_commands_in_template_errors_name_the_stage(stage: Cloud, own: Write) -> None:
    boto3.client("lambda")
    said = run("rollout", "5", "--stage", "prod", "--yes")
    assert said.exit_code == 2
    assert "There is no candidate" in said.stderr


@pytest.mark.parametrize("percent", ["0", "101", "-1", "x", "5.5"])
def test_invalid_percentage_is_rejected(stage: Cloud, own: Write, percent: str) -> None:
    done = run("push", str(own({SUBJECT: "News"})), f"--percent={percent}", "--yes")
    assert done.exit_code == 2
    assert "--percent" in done.stderr
    assert objects() == {}


def readers(number: int = 400) -> dict[str, int]:
    """The version that each of some readers gets."""
    stored = in_force()
    return {f"r{each}": version_for(f"r{each}", stored).number for each in range(number)}


def test_raised_percentage_keeps_readers_and_rollback_removes_all(stage: Cloud, own: Write) -> None:
    pushed(own({SUBJECT: "News"}), "--percent", "5")
    first = {reader for reader, version in readers().items() if version == 1}
    assert 0 < len(first) < 60
    answered("rollout", "50", "--yes")
    more = {reader for reader, version in readers().items() if version == 1}
    assert first < more
    assert answered("rollback", "--yes")["in_force"]["candidate"] is None
    assert set(readers().values()) == {0}


def test_full_rollout_makes_the_candidate_the_current_version(stage: Cloud, own: Write) -> None:
    pushed(own({SUBJECT: "News"}), "--percent", "5")
    answer = answered("rollout", "100", "--yes")["in_force"]
    assert (answer["version"], answer["candidate"], answer["percent"]) == (1, None, None)
    assert set(readers().values()) == {1}


def test_rollout_to_the_same_percentage_changes_no_data(stage: Cloud, own: Write) -> None:
    pushed(own({SUBJECT: "News"}), "--percent", "5")
    before = in_force()
    assert answered("rollout", "5", "--yes")["changed"] is False
    assert in_force() == before


def test_successive_rollbacks_end_at_the_deployed_templates(stage: Cloud, own: Write) -> None:
    for text in ("One", "Two", "Three"):
        pushed(own({SUBJECT: text}))
    went = [answered("rollback", "--yes")["in_force"]["version"] for _ in range(3)]
    assert went == [2, 1, 0]
    assert "nothing to roll back" in refused("rollback")


def test_rollback_can_target_a_named_version(stage: Cloud, own: Write) -> None:
    for text in ("One", "Two"):
        pushed(own({SUBJECT: text}))
    assert answered("rollback", "deployed", "--yes")["in_force"]["version"] == DEPLOYED.number
    assert answered("rollback", "1", "--yes")["in_force"]["version"] == 1
    assert "Version 1 is already in force for all readers" in refused("rollback", "1")
    assert "Version 9 does not exist" in refused("rollback", "9")
    assert "'newest' is not a version" in refused("rollback", "newest")


def test_rollback_to_a_version_withdraws_the_candidate(stage: Cloud, own: Write) -> None:
    pushed(own({SUBJECT: "One"}))
    pushed(own({SUBJECT: "Two"}), "--percent", "5")
    assert answered("rollback", "1", "--yes")["in_force"]["candidate"] is None


BROKEN = {
    "syntax": ({SUBJECT: "News\n{% if %}"}, "digest/subject.txt:2: "),
    "name": ({LINE: "{{ people }}\n\n{{ group.colour }}"}, "categories/comment/line.txt:3: "),
    "sandbox": ({LINE: "{{ people }}\n{{ ''.__class__.__mro__ }}"}, "line.txt:2: "),
    "format": ({LINE: "x\n{{ '{0.__class__}'.format(people) }}"}, "line.txt:2: "),
    "html": (
        {"digest/block.html": "<p>\n<b>{{ block.colour }}</b></p>"},
        "own/digest/block.html:2: ",
    ),
    "variation": (
        {"variations/2/digest/subject.txt": "\n{{ digest.colour }}"},
        "variations/2/digest/subject.txt:2: ",
    ),
    "unused": ({"digest/title.txt": "x"}, "digest/title.txt: this file has no effect."),
    "brand": ({"brand.json": '{"name": ""}'}, "brand.json:1: name is missing"),
    "long": (
        {"digest/block.html": "{{ block.title }}<b>" + "x" * 90_001 + "</b>"},
        "one block alone has more than 90000 bytes of HTML",
    ),
    "catalogue": (
        {
            "locales/fr/LC_MESSAGES/messages.po": 'msgid ""\nmsgstr "Content-Type: text/plain; '
            'charset=UTF-8\\n"\n\n#, python-format\nmsgid "%(name)s"\nmsgstr "%(nom)s"\n'
        },
        "messages.po:5: ",
    ),
    "settings": (
        {"settings.json": '{"max_blocks": 0}'},
        "settings.json:1: max_blocks is 0; it",
    ),
    "ranking": (
        {"settings.json": '{"ranking": "best"}'},
        "settings.json:1: ranking is 'best'; it must be one of relevance, most_active, latest",
    ),
    "setting": (
        {"settings.json": '{"shards": 2}'},
        "settings.json:1: 'shards' is not a template setting",
    ),
    "json": ({"settings.json": "{"}, "settings.json:1: not JSON"),
    "categories": (
        {"categories.json": '{"build_failed": {"de": {"one": "{people} x"}}}'},
        "categories.json:1: build_failed.de.one contains {people}. It may contain no placeholder.",
    ),
    "elsewhere": ({"digest/settings.json": "{}"}, "settings.json: this file has no effect"),
    **{
        f"a variation's {name}": (
            {f"variations/2/{name}": "{}", "variations/2/digest/subject.txt": "News"},
            f"{name}: this file has no effect. All variations share ",
        )
        for name in (
            "brand.json",
            "categories.json",
            "email.css",
            "outlook.css",
            "preferences/settings.html",
            "locales/de/LC_MESSAGES/messages.po",
        )
    },
}


@pytest.mark.parametrize("what", BROKEN)
def test_broken_template_is_rejected_with_its_location_before_upload(
    stage: Cloud, own: Write, what: str
) -> None:
    files, said = BROKEN[what]
    assert said in refused("push", str(own(files)))
    assert stage.meter.calls["s3.PutObject"] == 0
    assert not [call for call in stage.meter.calls if "Write" in call or "Put" in call]


def test_push_of_a_missing_folder_is_rejected(stage: Cloud, tmp_path: Path) -> None:
    assert "nowhere is not a folder" in refused("push", str(tmp_path / "nowhere"))


def test_changed_data_schema_requires_a_deployment(stage: Cloud, own: Write) -> None:
    folder = own(
        {
            SCHEMA: json.dumps({"type": "object", "properties": {"stars": {"type": "integer"}}}),
            "categories/build/line.txt": "{{ people }} built",
            "categories/build/name.txt": "builds",
        }
    )
    said = refused("push", str(folder))
    assert "The data schema of build differs from the deployed schema" in said
    assert "needs a deployment" in said


def catalogue(*sentences: tuple[str, str]) -> str:
    head = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n'
    return head + "".join(f'\nmsgid "{text}"\nmsgstr "{said}"\n' for text, said in sentences)


PO = "locales/{}/LC_MESSAGES/messages.po"
OF_PAGES = {
    "brand.json": json.dumps({"name": "Shop", "postal_address": "1 Street"}),
    "preferences/page.css": "body { color: #111827; }\n",
    "preferences/settings.html": "{% extends 'preferences/page.html' %}",
    "preferences/leave.html": "{% extends 'preferences/page.html' %}",
    "categories/comment/name.txt": "remarks",
    "parts/part.txt": "{{ part }}",
    "categories.json": '{"build_failed": {"de": {"name": "Fehlgeschlagene Builds"}}}',
    PO.format("de"): catalogue(("Unsubscribe from all emails?", "Nichts mehr?")),
    PO.format("fr"): catalogue(("Unsubscribe from all emails?", "Rien ?")),
    PO.format("de-AT"): catalogue(("Berlin time", "Wiener Zeit")),
}
"""Each shows on a page, which the deployed templates make."""


@pytest.mark.parametrize("name", OF_PAGES)
def test_changed_page_templates_require_a_deployment(stage: Cloud, own: Write, name: str) -> None:
    said = refused("push", str(own({name: OF_PAGES[name], SUBJECT: "News"})))
    told = "/".join(name.split("/")[:2]) if name.startswith("locales") else name
    assert told in said
    assert "Web pages, such as the preference page, use only deployed files" in said
    assert "Deploy the change, then push, or remove the change from the folder" in said
    assert stage.meter.calls["s3.PutObject"] == 0
    assert in_force() == NOTHING_PUSHED


@pytest.mark.long
@pytest.mark.parametrize(
    "files",
    [
        {PO.format("de"): catalogue(("Yesterday", "Einen Tag zuvor"))},
        {PO.format("fr"): catalogue(("Yesterday", "Hier"))},
        {"categories/build/line.txt": "{{ people }} built"},
        {
            "categories/comment/headline.txt": "{{ people }} said more",
            "categories/comment/button.txt": "Go",
        },
        {"email.css": (ROOT / "templates/email.css").read_text() + "\np { margin: 0 }\n"},
    ],
    ids=["a sentence of emails", "a language", "a category", "a headline", "a style"],
)
def test_changed_email_templates_can_be_pushed(
    stage: Cloud, own: Write, files: Mapping[str, str]
) -> None:
    pushed(own(files))
    assert in_force().current.number == 1


def test_deployed_brand_is_not_a_difference(
    stage: Cloud, own: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    brand = OF_PAGES["brand.json"]
    with_layer(
        monkeypatch,
        lambda files: files.update({"python/gazette_templates/brand.json": brand.encode()}),
    )
    pushed(own({"brand.json": brand, SUBJECT: "News"}))
    assert "brand.json" in refused("push", str(own({SUBJECT: "Other news"})))


def archive_of(files: Mapping[str, bytes]) -> bytes:
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return into.getvalue()


def with_layer(monkeypatch: pytest.MonkeyPatch, change: Callable[[dict[str, bytes]], None]) -> None:
    """Let the layers that the stage works with have something else."""
    known: Any = deployed.fetch

    def fetch(link: str) -> bytes:
        content: bytes = known(link)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        change(files)
        return archive_of(files)

    monkeypatch.setattr(deployed, "fetch", fetch)


def test_different_code_release_is_rejected(
    stage: Cloud, own: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_layer(
        monkeypatch, lambda files: files.update({"python/gazette/http.py": b"# of yesterday"})
    )
    said = refused("push", str(own({SUBJECT: "News"})))
    assert "The code of this working tree differs from the release" in said
    assert "Check out the deployed release, or deploy this release first" in said


def test_bytecode_in_the_layer_is_ignored(
    stage: Cloud, own: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = {
        "python/gazette/__pycache__/http.cpython-313.pyc": b"x",
        "python/gazette_templates/__pycache__/__init__.cpython-313.pyc": b"x",
        "python/gazette_templates/settings.json": b"{}",
    }
    with_layer(monkeypatch, lambda files: files.update(compiled))
    assert [each["file"] for each in pushed(own({SUBJECT: "News"}))["files"]] == [SUBJECT]


def test_crash_during_a_push_leaves_the_version_inactive(
    stage: Cloud, own: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever of the writes breaks off; the same push then goes on, and uploads nothing twice."""
    folder = own({SUBJECT: "News"})

    def broken(*_: object) -> bool:
        raise Unavailable("The table does not answer")

    for method in ("add", "change"):
        with monkeypatch.context() as patch:
            patch.setattr(DynamoTemplateVersions, method, broken)
            done = run("push", str(folder), "--yes")
        assert done.exit_code == 2
        assert "The table does not answer" in done.stderr
        assert in_force() == NOTHING_PUSHED
        assert len(objects()) == 1
    answer = pushed(folder)
    assert (answer["pushed"], answer["uploaded"]) == (1, False)
    assert len(objects()) == 1
    assert in_force().current.number == 1


def at_the_same_time(
    monkeypatch: pytest.MonkeyPatch, method: str, act: Callable[[], object]
) -> None:
    """Let somebody else `act` just before a call of the versions, once."""
    real: Any = getattr(DynamoTemplateVersions, method)
    acted: list[object] = []

    def call(self: DynamoTemplateVersions, *given: Any) -> Any:
        if not acted:
            acted.append(None)
            acted.append(act())
        return real(self, *given)

    monkeypatch.setattr(DynamoTemplateVersions, method, call)


@pytest.mark.parametrize("method", ["add", "change"])
def test_second_of_two_concurrent_pushes_fails(
    stage: Cloud, own: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    other = tmp_path / "other"
    shutil.copytree(own({SUBJECT: "Theirs"}), other)
    with monkeypatch.context() as patch:
        at_the_same_time(patch, method, lambda: pushed(other))
        done = run("push", str(own({SUBJECT: "Ours"})), "--yes")
    assert done.exit_code == 2
    assert "Another user has" in done.stderr
    won = in_force()
    assert versions().history()[-1].pushed_by == won.changed_by
    assert won.revision == 1
    numbers = [each.version.number for each in versions().history()]
    assert len(numbers) == len(set(numbers))
    assert pushed(own({SUBJECT: "Ours"}))["changed"] is True
    assert in_force().current != won.current


def test_second_of_two_concurrent_rollouts_fails(
    stage: Cloud, own: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    pushed(own({SUBJECT: "News"}), "--percent", "5")
    with monkeypatch.context() as patch:
        at_the_same_time(patch, "change", lambda: answered("rollback", "--yes"))
        done = run("rollout", "50", "--yes")
    assert done.exit_code == 2
    assert "Another user has changed the versions in force" in done.stderr
    assert in_force().candidate is None


@pytest.mark.parametrize(
    ("arguments", "theirs"),
    [
        (["push"], ["rollback"]),
        (["rollout", "100"], ["rollout", "20"]),
        (["rollback"], ["rollout", "100"]),
        (["rollback", "1"], ["rollback"]),
    ],
)
def test_confirmation_is_rejected_after_a_concurrent_change(
    stage: Cloud,
    own: Write,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    theirs: list[str],
) -> None:
    """Somebody else changes what is in force between the question and the answer."""
    pushed(own({SUBJECT: "One"}))
    if arguments == ["push"]:
        arguments = ["push", str(own({SUBJECT: "Two"}))]
    else:
        pushed(own({SUBJECT: "Two"}), "--percent", "5")
    after: list[InForce] = []

    def answer(question: str) -> None:
        assert question.endswith("?")
        answered(*theirs, "--yes")
        after.append(in_force())

    monkeypatch.setattr(command, "confirm", answer)
    done = run(*arguments)
    assert done.exit_code == 2, done.output
    assert "Another user has changed the versions in force, so no" in done.stderr
    assert [in_force()] == after


def test_template_versions_list_shows_settings(stage: Cloud, own: Write) -> None:
    first = own({"settings.json": json.dumps({"max_blocks": 5, "ranking": "latest"})})
    answer = pushed(first)
    assert answer["settings"] == [
        {"setting": "max_blocks", "before": None, "after": 5},
        {"setting": "ranking", "before": None, "after": "latest"},
    ]
    assert in_force().current.settings.max_blocks == 5
    second = own({"settings.json": json.dumps({"max_blocks": 7, "collapse": 60})})
    asked = run("push", str(second), said="y\n").stdout
    assert "setting max_blocks: 5 -> 7" in asked
    assert "setting ranking: latest -> the stage's value" in asked
    assert "setting collapse: the stage's value -> 60" in asked
    listed = {each["version"]: each["settings"] for each in answered("list")["versions"]}
    assert listed == {
        2: {"max_blocks": 7, "collapse": 60},
        1: {"max_blocks": 5, "ranking": "latest"},
        0: {},
    }
    answered("rollback", "--yes")
    assert in_force().current.settings.max_blocks == 5


def test_versions_list_shows_the_readers_of_each_version(stage: Cloud, own: Write) -> None:
    first, *rows = run("list").stdout.splitlines()
    assert first == "all readers get the deployed templates"
    assert [row.split("\t")[:2] for row in rows] == [["0", "all"]]
    pushed(own({SUBJECT: "News"}), "--note", "shorter")
    pushed(own({SUBJECT: "Other"}), "--percent", "5")
    first, *rows = run("list").stdout.splitlines()
    assert first.startswith("5 % of the readers get version 2, others version 1, since 20")
    assert [row.split("\t")[:2] for row in rows] == [["2", "5 %"], ["1", "95 %"], ["0", ""]]
    found = answered("list")
    assert [(each["version"], each["readers"]) for each in found["versions"]] == [
        (2, 5),
        (1, 95),
        (0, 0),
    ]
    assert (found["in_force"]["percent"], found["deployed_since"]) == (5, False)


@pytest.fixture
def deploy_again(
    layers: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> Callable[[Mapping[str, bytes]], str]:
    """Deploys a layer that has other files besides; its ARN."""

    def again(files: Mapping[str, bytes]) -> str:
        known: Any = deployed.fetch
        packages, core = layers
        with zipfile.ZipFile(io.BytesIO(known(core))) as archive:
            content = archive_of(
                {name: archive.read(name) for name in archive.namelist()} | dict(files)
            )
        newer = publish_layer("Core", content)
        links = {newer: content}
        monkeypatch.setattr(deployed, "fetch", lambda link: links.get(link) or known(link))
        boto3.client("lambda").delete_function(FunctionName="gazette-prod-generate")
        boto3.client("iam").delete_role(RoleName="generate")
        deploy("generate", GenerateSettings.from_env().to_env(), packages, newer)
        return newer

    return again


TEMPLATES = "python/gazette_templates"


def test_versions_list_warns_of_a_later_deployment(
    stage: Cloud, own: Write, deploy_again: Callable[[Mapping[str, bytes]], str]
) -> None:
    pushed(own({SUBJECT: "News"}))
    assert run("list").stderr == ""
    deploy_again({f"{TEMPLATES}/{SUBJECT}": b"Of the deployment"})
    said = run("list")
    assert (
        "The stage was deployed after version 1 was pushed. This version is still in force"
        in said.stderr
    )
    assert "`gazette templates rollback deployed`" in said.stderr
    assert answered("list")["deployed_since"] is True
    assert in_force().current.number == 1
    answered("rollback", "deployed", "--yes")
    assert run("list").stderr == ""


def test_same_templates_can_be_pushed_again_after_a_deployment(
    stage: Cloud, own: Write, deploy_again: Callable[[Mapping[str, bytes]], str]
) -> None:
    folder = own({SUBJECT: "News"})
    first = pushed(folder)
    layer = deploy_again({f"{TEMPLATES}/{SUBJECT}": b"Of the deployment"})
    again = pushed(folder)
    assert (again["pushed"], again["checksum"]) == (2, first["checksum"])
    assert versions().history()[0].layer == layer
    assert answered("list")["deployed_since"] is False
    assert pushed(folder)["pushed"] is None


@pytest.mark.long
def test_template_diff_is_shown_by_file_with_the_exit_code_of_diff(
    stage: Cloud, own: Write
) -> None:
    folder = own({SUBJECT: "News\n", "settings.json": '{"max_blocks": 5}\n'})
    done = run("diff", "--templates", str(folder))
    assert done.exit_code == 1
    assert "--- 0/digest/subject.txt" in done.stdout
    assert "+++ tree/digest/subject.txt" in done.stdout
    assert "\n+News\n" in done.stdout
    assert "--- /dev/null\n+++ tree/settings.json" in done.stdout
    assert objects() == {}
    pushed(folder)
    same = run("diff", "--templates", str(folder))
    assert (same.exit_code, same.stdout) == (0, "")
    found = answered("diff", "deployed", "1", exits=1)
    assert (found["before"], found["after"]) == ("0", "1")
    assert [(each["file"], each["change"]) for each in found["files"]] == [
        (SUBJECT, "changed"),
        ("settings.json", "added"),
    ]
    back = answered("diff", "1", "0", exits=1)
    assert [each["change"] for each in back["files"]] == ["changed", "removed"]
    assert "Version 5 does not exist" in refused("diff", "5", "1")


def test_file_that_differs_only_in_line_endings_is_named(stage: Cloud, own: Write) -> None:
    file = ROOT / "templates" / SUBJECT
    folder = own({SUBJECT: file.read_text() + "\n"})
    pushed(folder)
    (folder / SUBJECT).write_bytes(file.read_bytes().replace(b"\n", b"\r\n") + b"\r\n")
    done = run("diff", "--templates", str(folder))
    assert done.exit_code == 1
    assert "only the line endings differ" in done.stdout


def test_changed_translation_is_shown_as_text(stage: Cloud, own: Write) -> None:
    folder = own(
        {
            "locales/de/LC_MESSAGES/messages.po": 'msgid ""\nmsgstr "Content-Type: text/plain; '
            'charset=UTF-8\\n"\n\nmsgid "Unsubscribe"\nmsgstr "Nichts mehr"\n'
        }
    )
    done = run("diff", "--templates", str(folder))
    assert done.exit_code == 1
    assert "+Unsubscribe = Nichts mehr" in done.stdout


def test_damaged_bundle_is_reported_and_not_compared(stage: Cloud, own: Write) -> None:
    pushed(own({SUBJECT: "News"}))
    (key,) = objects()
    boto3.client("s3").put_object(Bucket=BUCKET, Key=key, Body=b"damaged")
    assert "The bundle of version 1 is damaged" in refused("diff", "1", "0")


def test_missing_bucket_is_reported_on_a_single_line(stage: Cloud, own: Write) -> None:
    boto3.client("s3").delete_bucket(Bucket=BUCKET)
    done = run("push", str(own({SUBJECT: "News"})), "--yes")
    assert done.exit_code == 2
    assert "The bucket of the templates of stage prod does not exist" in done.stderr
    assert in_force() == NOTHING_PUSHED
