"""`gazette links` on moto: what it shows of the keys, and which sent links still work."""

import json
from collections.abc import Iterator

import boto3
import pytest
from botocore.exceptions import ClientError
from gazette.adapters import cached
from gazette.adapters.aws.link_keys import SecretKeyStore
from gazette.adapters.aws.secrets import secrets_client
from gazette.bootstrap import preferences
from gazette.domain.links import LinkKeys
from gazette.settings.preferences import PreferencesSettings
from typer.testing import CliRunner, Result

from gazette_cli.main import app
from gazette_support.steps import link_keys
from tests.functions.conftest import Cloud
from tests.functions.deployed import deploy
from tests.functions.messages import http
from tests.functions.test_handlers import send_one_digest

LEFT = "You're unsubscribed"
SIGNS = (
    "k2 is the newest key, which signs new links. Rotate the keys first, then retire it. "
    "If the key was leaked, retire it with --now."
)


@pytest.fixture
def stage(cloud: Cloud) -> Iterator[Cloud]:
    """The commands find the secret in the settings of preferences alone."""
    deploy("preferences", PreferencesSettings.from_env().to_env())
    cloud.meter.clear()
    yield cloud
    preferences.build.cache_clear()


def run(*arguments: str, said: str | None = None) -> Result:
    return CliRunner().invoke(app, ["links", *arguments], input=said)


def stored() -> LinkKeys:
    return SecretKeyStore("links").read()


def calls_of(cloud: Cloud) -> dict[str, int]:
    """The calls of Secrets Manager."""
    named = cloud.meter.calls.items()
    return {
        name.partition(".")[2]: times for name, times in named if name.startswith("secretsmanager")
    }


def test_link_keys_are_listed_by_id_without_their_values(stage: Cloud) -> None:
    shown = run("list")
    assert (shown.exit_code, shown.stdout, shown.stderr) == (0, "k1\tsigns and verifies\n", "")
    run("rotate")
    assert run("list").stdout.splitlines() == ["k1\tverifies", "k2\tsigns and verifies"]
    assert calls_of(stage) == {"GetSecretValue": 3, "PutSecretValue": 1}


@pytest.mark.usefixtures("stage")
def test_rotation_adds_a_random_key_and_explains_the_effect() -> None:
    before = stored()
    done = run("rotate")
    assert done.stdout == (
        "k2 signs the links of stage prod within a minute; existing links keep working\n"
    )
    assert "retire it with `gazette links retire k1 --stage prod`" in done.stderr
    after = stored()
    assert after.by_id["k1"] == before.by_id["k1"]
    assert len(after.by_id["k2"]) == 64
    run("rotate")
    assert len(set(stored().by_id.values())) == 3
    for key in stored().by_id.values():
        assert key.decode() not in done.stdout + done.stderr


@pytest.mark.usefixtures("later")
def test_link_works_after_rotation_until_its_key_is_retired(
    stage: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one signed with a key that the warm function has never seen."""
    monkeypatch.setattr(cached, "READ_INTERVAL", cached.READ_INTERVAL * 0)
    send_one_digest(stage)
    old = stage.unsubscribe_path()
    assert stage.invoke("preferences", http("GET", old))["statusCode"] == 200
    run("rotate")
    assert old.startswith("/unsubscribe/k1.")
    new = stage.link("unsubscribe")
    assert new.startswith("/unsubscribe/k2.")
    for path in (new, old):
        assert stage.invoke("preferences", http("GET", path))["statusCode"] == 200
    run("retire", "k1", "--yes")
    preferences.build.cache_clear()
    assert stage.invoke("preferences", http("POST", old))["statusCode"] == 404
    assert LEFT in stage.invoke("preferences", http("POST", new))["body"]


@pytest.mark.usefixtures("stage")
@pytest.mark.parametrize(("answer", "left"), [("y\n", "k2"), ("n\n", "k1 k2"), ("", "k1 k2")])
def test_key_is_not_retired_without_confirmation(answer: str, left: str) -> None:
    run("rotate")
    done = run("retire", "k1", said=answer)
    assert (
        "Disable every link of stage prod that k1 signed, including unsubscribe links"
        in done.stdout
    )
    assert "at least 30 days" in done.stderr
    assert (done.exit_code == 0) == (answer == "y\n")
    assert " ".join(stored().ids) == left


@pytest.mark.usefixtures("stage")
@pytest.mark.parametrize(
    ("key_id", "words"),
    [
        ("k2", SIGNS),
        ("k3", "Key 'k3' does not exist. The keys are k1, k2."),
        ("", "Key '' does not exist. The keys are k1, k2."),
    ],
)
def test_key_that_cannot_be_retired_is_rejected_before_the_prompt(key_id: str, words: str) -> None:
    run("rotate")
    done = run("retire", key_id)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"gazette: {words}\n"
    assert stored().ids == ("k1", "k2")


@pytest.mark.usefixtures("stage")
def test_leaked_signing_key_is_retired_immediately_and_replaced() -> None:
    before = stored()
    done = run("retire", "k1", "--now", said="y\n")
    assert done.exit_code == 0
    assert "anyone who has it can act for any reader" in done.stderr
    assert "Remaining keys: k2. k2 is the signing key." in done.stderr
    after = stored()
    assert (after.ids, len(after.by_id["k2"])) == (("k2",), 64)
    assert after.by_id["k2"] != before.by_id["k1"]
    run("rotate")
    assert run("retire", "k2", "--now", "--yes").exit_code == 0
    assert stored().ids == ("k3",), "it did not sign, so no other is needed"
    assert run("retire", "k9", "--now", "--yes").exit_code == 2


@pytest.mark.usefixtures("stage")
def test_key_retired_during_the_prompt_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run("rotate")

    def confirm(*_: object, **__: object) -> None:
        link_keys.retire("k1", store=SecretKeyStore("links"))

    monkeypatch.setattr("typer.confirm", confirm)
    done = run("retire", "k1")
    assert done.exit_code == 2
    assert "Key 'k1' does not exist. The keys are k2." in done.stderr


@pytest.mark.usefixtures("stage")
def test_second_of_two_concurrent_rotations_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    real = SecretKeyStore.read

    def overtaken(store: SecretKeyStore) -> LinkKeys:
        keys = real(store)
        monkeypatch.setattr(SecretKeyStore, "read", real)
        assert run("rotate").exit_code == 0
        return keys

    monkeypatch.setattr(SecretKeyStore, "read", overtaken)
    done = run("rotate")
    assert done.exit_code == 2
    assert "Another process changed the keys at the same time" in done.stderr
    assert stored().ids == ("k1", "k2")


@pytest.mark.usefixtures("stage")
def test_secret_without_keys_is_named_without_its_content() -> None:
    boto3.client("secretsmanager").put_secret_value(SecretId="links", SecretString="p4ssw0rd")
    for command in (("list",), ("rotate",), ("retire", "k1", "--yes")):
        done = run(*command)
        assert done.exit_code == 2
        (line,) = done.stderr.splitlines()
        assert "secret:links" in line
        assert "does not contain valid link keys: it is not JSON" in line
        assert "p4ssw0rd" not in line


@pytest.mark.usefixtures("stage")
def test_denied_secrets_manager_request_names_the_permission(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    denied = ClientError({"Error": {"Code": "AccessDeniedException"}}, "PutSecretValue")

    def refuse(*_: object, **__: object) -> None:
        raise denied

    monkeypatch.setattr(secrets_client(), "put_secret_value", refuse)
    done = run("rotate")
    assert done.stderr == (
        "gazette: Access denied. Your credentials need secretsmanager:PutSecretValue on the "
        "link keys of stage prod.\n"
    )


@pytest.mark.parametrize("command", [["list"], ["rotate"], ["retire", "k1", "--yes"]])
def test_keys_of_another_stage_are_unchanged(stage: Cloud, command: list[str]) -> None:
    done = run(*command, "--stage", "nowhere")
    assert done.exit_code == 2
    assert "Function gazette-nowhere-preferences does not exist" in done.stderr
    assert json.loads(stored().to_json()).keys() == {"k1"}
    assert "PutSecretValue" not in calls_of(stage)
