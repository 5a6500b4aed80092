"""What the doctor says of SES and the domain, from what SES and the DNS say."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import boto3
import pytest
from gazette.domain.console.levels import Level
from gazette.settings.delivery import GenerateSettings

from gazette_cli.doctor.findings import Finding, Unseen
from gazette_cli.doctor.mail_checks import check_mail
from gazette_cli.doctor.mail_facts import MailFacts, Sender, mail_facts

ROOT = Path(__file__).parents[3]
ACCOUNT: Mapping[str, Any] = {
    "SendingEnabled": True,
    "EnforcementStatus": "HEALTHY",
    "ProductionAccessEnabled": True,
    "SendQuota": {"MaxSendRate": 14.0, "Max24HourSend": 50_000.0, "SentLast24Hours": 10.0},
    "PricingAttributes": {"CurrentPlan": "NONE"},
}
IDENTITY: Mapping[str, Any] = {
    "VerifiedForSendingStatus": True,
    "DkimAttributes": {"SigningEnabled": True, "Status": "SUCCESS"},
    "MailFromAttributes": {
        "MailFromDomain": "bounce.example.com",
        "MailFromDomainStatus": "SUCCESS",
    },
}
SENDER = Sender(
    address="digest@example.com",
    name="example.com",
    identity=IDENTITY,
    dmarc=["v=DMARC1; p=none"],
)
DESTINATION: Mapping[str, Any] = {
    "Name": "ours",
    "Enabled": True,
    "EventBridgeDestination": {"EventBusArn": "…"},
    "MatchingEventTypes": ["SEND", "BOUNCE", "COMPLAINT", "REJECT", "DELIVERY_DELAY", "DELIVERY"],
}
WELL = MailFacts(
    stage="prod",
    rate=10,
    account=ACCOUNT,
    senders=(SENDER,),
    destinations={"gazette-prod-digest": {"EventDestinations": [DESTINATION]}},
)


def found(facts: MailFacts) -> dict[str, Finding]:
    """What is not well, by its check."""
    return {each.check: each for each in check_mail(facts) if each.level is not Level.OK}


def with_identity(**changed: Any) -> MailFacts:
    return replace(WELL, senders=(replace(SENDER, identity={**IDENTITY, **changed}),))


def with_account(**changed: Any) -> MailFacts:
    return replace(WELL, account={**ACCOUNT, **changed})


def test_healthy_mail_setup_has_no_findings() -> None:
    assert found(WELL) == {}
    assert {each.level for each in check_mail(WELL)} == {Level.OK}


_QUOTA = ACCOUNT["SendQuota"]


@pytest.mark.parametrize(
    ("facts", "check", "level", "words"),
    [
        (with_account(SendingEnabled=False), "ses sending", Level.PROBLEM, "does not send"),
        (with_account(EnforcementStatus="SHUTDOWN"), "ses sending", Level.PROBLEM, "SHUTDOWN"),
        (with_account(EnforcementStatus="PROBATION"), "ses sending", Level.WARNING, "review"),
        (with_account(ProductionAccessEnabled=False), "ses sandbox", Level.WARNING, "verified"),
        (replace(WELL, rate=15), "ses quota", Level.PROBLEM, "at most 14 emails per second"),
        (
            with_account(SendQuota={**_QUOTA, "SentLast24Hours": 45_000.0}),
            "ses quota",
            Level.WARNING,
            "45,000 of 50,000",
        ),
        (
            with_account(PricingAttributes={"CurrentPlan": "ESSENTIALS"}),
            "ses plan",
            Level.WARNING,
            "essentials, $0.16 per 1,000 emails",
        ),
        (
            with_identity(VerifiedForSendingStatus=False, VerificationStatus="FAILED"),
            "identity digest@example.com",
            Level.PROBLEM,
            "not verified: FAILED",
        ),
        (
            replace(WELL, senders=(replace(SENDER, identity=None),)),
            "identity digest@example.com",
            Level.PROBLEM,
            "neither the address nor its domain",
        ),
        (
            with_identity(DkimAttributes={"SigningEnabled": True, "Status": "PENDING"}),
            "dkim digest@example.com",
            Level.PROBLEM,
            "PENDING",
        ),
        (
            with_identity(DkimAttributes={"SigningEnabled": False, "Status": "SUCCESS"}),
            "dkim digest@example.com",
            Level.PROBLEM,
            "switched off",
        ),
        (
            with_identity(MailFromAttributes={}),
            "mail from digest@example.com",
            Level.WARNING,
            "SES",
        ),
        (
            with_identity(
                MailFromAttributes={"MailFromDomain": "b.example", "MailFromDomainStatus": "FAILED"}
            ),
            "mail from digest@example.com",
            Level.WARNING,
            "cannot find the MX record of b.example",
        ),
        (
            replace(WELL, senders=(replace(SENDER, dmarc=[]),)),
            "dmarc digest@example.com",
            Level.PROBLEM,
            "no DMARC record",
        ),
        (
            replace(WELL, senders=(replace(SENDER, dmarc=["v=DMARC1; p=none"] * 2),)),
            "dmarc digest@example.com",
            Level.PROBLEM,
            "2 DMARC records",
        ),
        (
            replace(WELL, senders=(replace(SENDER, dmarc=Unseen("no answer")),)),
            "dmarc digest@example.com",
            Level.UNSEEN,
            "no answer",
        ),
        (
            replace(
                WELL,
                destinations={
                    "gazette-prod-digest": {
                        "EventDestinations": [{**DESTINATION, "Enabled": False}]
                    }
                },
            ),
            "events of gazette-prod-digest",
            Level.PROBLEM,
            "BOUNCE",
        ),
        (
            replace(WELL, account=Unseen("needs ses:GetAccount")),
            "ses account",
            Level.UNSEEN,
            "needs",
        ),
    ],
)
def test_each_mail_problem_is_a_finding_with_a_remedy(
    facts: MailFacts, check: str, level: Level, words: str
) -> None:
    (finding,) = found(facts).values()
    assert (finding.check, finding.level) == (check, level)
    assert words in finding.seen
    assert (bool(finding.todo), bool(finding.page)) == (level is not Level.UNSEEN,) * 2
    assert finding.page.startswith("https://") or (ROOT / finding.page.partition("#")[0]).exists()


class Ses:
    """Knows some identities, and counts what it is asked."""

    def __init__(self, *identities: str) -> None:
        self.identities = identities
        self.asked: list[str] = []

    def get_account(self) -> Mapping[str, Any]:
        return ACCOUNT

    def get_email_identity(self, EmailIdentity: str) -> Mapping[str, Any] | None:  # noqa: N803
        self.asked.append(EmailIdentity)
        return IDENTITY if EmailIdentity in self.identities else None

    def get_configuration_set_event_destinations(
        self,
        ConfigurationSetName: str,  # noqa: N803
    ) -> Mapping[str, Any]:
        return {"EventDestinations": [{**DESTINATION, "Name": ConfigurationSetName}]}


def gathered(
    ses: Ses, monkeypatch: pytest.MonkeyPatch, records: dict[str, list[str]] | None = None
) -> MailFacts:
    settings = object.__new__(GenerateSettings)
    for name, value in {
        "sender": "Käse <Digest@news.shop.example>",
        "immediate_sender": "digest@news.shop.example",
        "emails_per_second": 0,
        "configuration_set": "one",
        "immediate_configuration_set": "two",
    }.items():
        object.__setattr__(settings, name, value)
    monkeypatch.setattr(boto3, "client", lambda _: ses)
    return mail_facts(settings, stage="prod", look_up=lambda name: (records or {}).get(name, []))


def test_identity_of_the_nearest_parent_domain_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ses = Ses("shop.example")
    (sender,) = gathered(ses, monkeypatch).senders
    assert (sender.name, sender.identity) == ("shop.example", IDENTITY)
    assert ses.asked == ["digest@news.shop.example", "news.shop.example", "shop.example"]
    (sender,) = gathered(Ses("digest@news.shop.example", "shop.example"), monkeypatch).senders
    assert sender.name == "digest@news.shop.example"
    assert gathered(Ses(), monkeypatch).senders[0].identity is None


def test_dmarc_record_of_a_parent_domain_is_accepted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    records = {
        "_dmarc.shop.example": ["some other text", "v=DMARC1; p=reject"],
        "_dmarc.example": ["v=DMARC1; p=none"],
    }
    (sender,) = gathered(Ses(), monkeypatch, records).senders
    assert sender.dmarc == ["v=DMARC1; p=reject"]


def test_event_destination_finding_contains_the_repair_command() -> None:
    off = {**DESTINATION, "Enabled": False}
    answer = {"EventDestinations": [off]}
    facts = replace(WELL, destinations={"gazette-prod-digest": answer})
    (finding,) = found(facts).values()
    _, command, _ = finding.todo.split("`")
    *words, last = shlex.split(command)
    assert (
        words
        == (
            "aws sesv2 update-configuration-set-event-destination "
            "--configuration-set-name gazette-prod-digest --event-destination-name ours "
            "--event-destination"
        ).split()
    )
    kinds = sorted(DESTINATION["MatchingEventTypes"])
    bus = {"EventBridgeDestination": {"EventBusArn": "…"}}
    assert json.loads(last) == {"Enabled": True, "MatchingEventTypes": kinds, **bus}
    (gone,) = found(replace(WELL, destinations={"gazette-prod-digest": {}})).values()
    assert "A deployment does not" in gone.todo
    assert "put-back.md" in (ROOT / gone.page).read_text()
