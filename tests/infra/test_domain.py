"""The sending domain: what authenticates its email, and who has to enter what."""

import pytest

from gazette_cdk.stages import StageError, read_stage
from tests.infra.conftest import Stages
from tests.infra.synthesis import Properties, Synthesis

_VALID = {"sender": "Gazette <digest@example.com>", "list_id": "digest.example.com"}
_ZONE = {"id": "Z0123", "name": "example.com"}
_IDENTITY, _RECORD = "AWS::SES::EmailIdentity", "AWS::Route53::RecordSet"


@pytest.fixture(scope="session")
def in_zone(stages: Stages) -> Synthesis:
    return stages(
        "in_zone",
        "prod",
        bundled=False,
        domain="example.com",
        hosted_zone=_ZONE,
        dmarc="v=DMARC1; p=quarantine; rua=mailto:dmarc@example.com",
    )


@pytest.fixture(scope="session")
def by_hand(stages: Stages) -> Synthesis:
    return stages("by_hand", "prod", bundled=False, domain="example.com", retain=False)


def records(stage: Synthesis) -> set[tuple[str, str, str]]:
    """Name, type and value of each record that is written."""
    found = stage.data.of_type(_RECORD).values()
    assert {each["HostedZoneId"] for each in found} <= {"Z0123"}
    return {(each["Name"], each["Type"], *each["ResourceRecords"]) for each in found}


def test_ses_identity_has_dkim_mail_from_and_no_bounce_forwarding(
    in_zone: Synthesis,
) -> None:
    assert in_zone.data.of_type(_IDENTITY) == {
        "DomainIdentity": {
            "EmailIdentity": "example.com",
            "DkimSigningAttributes": {"NextSigningKeyLength": "RSA_2048_BIT"},
            "MailFromAttributes": {
                "MailFromDomain": "bounce.example.com",
                "BehaviorOnMxFailure": "USE_DEFAULT_VALUE",
            },
            "FeedbackAttributes": {"EmailForwardingEnabled": False},
        }
    }


def test_hosted_zone_contains_every_record(
    in_zone: Synthesis,
) -> None:
    token = "{{DomainIdentity.DkimDNSToken{}{}}}"
    assert records(in_zone) == {
        *(
            (token.format("Name", number), "CNAME", token.format("Value", number))
            for number in (1, 2, 3)
        ),
        ("bounce.example.com", "MX", "10 feedback-smtp.{AWS::Region}.amazonses.com"),
        ("bounce.example.com", "TXT", '"v=spf1 include:amazonses.com ~all"'),
        (
            "_dmarc.example.com",
            "TXT",
            '"v=DMARC1; p=quarantine; rua=mailto:dmarc@example.com"',
        ),
    }
    assert not [name for name in in_zone.data.outputs if name.startswith("Dns")]


def test_records_are_stack_outputs_without_a_hosted_zone(
    in_zone: Synthesis, by_hand: Synthesis
) -> None:
    assert not by_hand.data.has(_RECORD)
    told = {text for name, text in by_hand.data.outputs.items() if name.startswith("Dns")}
    assert {text for text in told if not text.startswith("_dmarc.")} == {
        " ".join(each) for each in records(in_zone) if not each[0].startswith("_dmarc.")
    }
    assert '_dmarc.example.com TXT "v=DMARC1; p=none"' in told


def test_domain_outlives_the_service_stack_and_is_retained(
    prod: Synthesis, in_zone: Synthesis, by_hand: Synthesis
) -> None:
    assert not prod.data.has(_IDENTITY)
    assert not in_zone.service.has(_IDENTITY)

    def policies(stage: Synthesis) -> set[tuple[str | None, str | None]]:
        found: list[Properties] = [
            each for each in stage.data.resources.values() if each["Type"] in (_IDENTITY, _RECORD)
        ]
        return {(each.get("DeletionPolicy"), each.get("UpdateReplacePolicy")) for each in found}

    assert policies(in_zone) == {("Retain", "Retain")}
    assert policies(by_hand) == {("Delete", "Delete")}


def test_empty_dmarc_setting_creates_no_record(stages: Stages) -> None:
    stage = stages(
        "no_dmarc", "prod", bundled=False, domain="example.com", hosted_zone=_ZONE, dmarc=""
    )
    assert "_dmarc.example.com" not in {name for name, *_ in records(stage)}
    assert len(records(stage)) == 5


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"domain": "Example.com"}, "domain must be a domain in lower case, such as example.com"),
        (
            {"sender": "Shop <Digest@Mail.Example.com>"},
            "sender must have its domain in lower case: Digest@mail.example.com",
        ),
        (
            {"immediate_sender": "now@EXAMPLE.com"},
            "immediate_sender must have its domain in lower case: now@example.com",
        ),
        ({"domain": "com"}, "domain must be a domain in lower case"),
        ({"domain": "shop.example"}, "sender must be under domain, shop.example, not example.com"),
        (
            {"domain": "example.com", "immediate_sender": "now@notexample.com"},
            "immediate_sender must be under domain, example.com, not notexample.com",
        ),
        ({"hosted_zone": {"id": "Z0123"}}, "hosted_zone must be like"),
        ({"hosted_zone": {"id": "Z0123", "name": 1}}, "hosted_zone must be like"),
        (
            {"domain": "example.com", "hosted_zone": {"id": "Z0", "name": "mail.example.com"}},
            "domain must be mail.example.com, the name of hosted_zone, or one of",
        ),
        ({"mail_from_domain": "b.example.com"}, "mail_from_domain needs domain"),
        (
            {"domain": "example.com", "mail_from_domain": "bounce.example.org"},
            "mail_from_domain must be a subdomain of domain",
        ),
        (
            {
                "sender": "digest@bounce.example.com",
                "domain": "example.com",
            },
            "mail_from_domain must not be the domain of a sender",
        ),
        ({"domain": "example.com", "dmarc": "p=none"}, "dmarc must be a DMARC record"),
        (
            {"domain": "example.com", "dmarc": 'v=DMARC1; p=none; rua="'},
            "dmarc must be a DMARC record",
        ),
        ({"tracking_domain": "go.example.com"}, "needs track_clicks or track_opens"),
        ({"tls": "maybe"}, "tls must be optional or require"),
        ({"sender": "digest@exämple.com"}, "sender must have an address in ASCII"),
        ({"domain": f"mail.{'a' * 64}"}, "domain must be a domain in lower case"),
        (
            {
                "domain": "example.com",
                "mail_provider": "smtp",
                "smtp_host": "mail.example.com",
                "unknown_policy": "carry_over",
                "emails_per_second": 5,
            },
            "domain is verified in SES and needs mail_provider ses",
        ),
    ],
)
def test_domain_that_does_not_authenticate_its_senders_is_rejected(
    given: dict[str, object], words: str
) -> None:
    with pytest.raises(StageError) as caught:
        read_stage("prod", {"prod": {**_VALID, **given}})
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "given",
    [
        {"domain": "example.com", "sender": "Shop <a@mail.example.com>"},
        {"domain": "example.com", "sender": "A@example.com"},
        {"domain": "example.com", "dmarc": "v=DMARC1;p=reject;pct=50;rua=mailto:a@b.example!10m"},
        {"domain": "example.com", "mail_from_domain": "b.example.com"},
        {"domain": "example.com", "hosted_zone": _ZONE},
        {"sender": "Käse <a@example.com>"},
    ],
)
def test_domain_that_authenticates_its_senders_is_accepted(given: dict[str, object]) -> None:
    assert read_stage("prod", {"prod": {**_VALID, **given}})
