"""The sending domain, with its SES identity and the DNS records that authenticate its email."""

from dataclasses import dataclass

from aws_cdk import Annotations, CfnOutput, Fn, RemovalPolicy, Stack
from aws_cdk import aws_route53 as route53
from aws_cdk import aws_ses as ses
from constructs import Construct

from gazette_cdk.stage import Stage

_SECONDS = "1800"
"""The time in seconds for which resolvers may cache a record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A DNS record."""

    # The purpose of the record, in one word.
    of: str
    name: str
    kind: str
    value: str


class SendingDomain(Construct):
    """The SES identity of the sending domain, with Easy DKIM and a custom MAIL FROM domain.

    Gmail, Yahoo and Outlook.com reject bulk email that is not authenticated for the domain of its
    sender (`550-5.7.26`, `550 5.7.515`). They require SPF, DKIM and a DMARC record, and SPF or DKIM
    must be aligned with the sender. https://support.google.com/a/answer/81126
    https://senders.yahooinc.com/best-practices/
    https://techcommunity.microsoft.com/blog/microsoftdefenderforoffice365blog/strengthening-email-ecosystem-outlook%E2%80%99s-new-requirements-for-high%E2%80%90volume-senders/4399730

    If the MX record of the MAIL FROM domain is missing, SES sends with its own domain. The DKIM
    signature is still aligned. Rejecting instead would stop all email while DNS is slow.
    https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_MailFromAttributes.html

    SES does not forward bounces to the sender by email, because it publishes them as events. It
    forwards them anyway if there is no event destination.
    https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_PutEmailIdentityFeedbackAttributes.html

    With a hosted zone, the stack creates the records. A record that already exists fails the
    deployment and is not overwritten. Without a zone, the records are outputs of the stack.
    docs/decisions/0055-the-sending-domain-is-in-the-data-stack.md
    """

    def __init__(self, scope: Construct, construct_id: str, *, stage: Stage) -> None:
        super().__init__(scope, construct_id)
        self._stage = stage
        identity = ses.EmailIdentity(
            self,
            "Identity",
            identity=ses.Identity.domain(stage.domain),
            dkim_identity=ses.DkimIdentity.easy_dkim(ses.EasyDkimSigningKeyLength.RSA_2048_BIT),
            mail_from_domain=stage.bounce_domain,
            mail_from_behavior_on_mx_failure=ses.MailFromBehaviorOnMxFailure.USE_DEFAULT_VALUE,
            feedback_forwarding=False,
        )
        identity.apply_removal_policy(
            RemovalPolicy.RETAIN if stage.retain else RemovalPolicy.DESTROY
        )
        records = [*self._of_dkim(identity), *self._of_mail_from(), *self._of_dmarc()]
        if stage.hosted_zone:
            self._write(records)
        else:
            self._print(records)

    def _of_dkim(self, identity: ses.EmailIdentity) -> list[Record]:
        """Return the DKIM records.

        https://docs.aws.amazon.com/ses/latest/dg/send-email-authentication-dkim-easy.html
        """
        return [
            Record(of=f"Dkim{number}", name=each.name, kind="CNAME", value=each.value)
            for number, each in enumerate(identity.dkim_records, 1)
        ]

    def _of_mail_from(self) -> list[Record]:
        """Return the MX and SPF records. https://docs.aws.amazon.com/ses/latest/dg/mail-from.html"""
        name = self._stage.bounce_domain
        server = Fn.join("", ["10 feedback-smtp.", Stack.of(self).region, ".amazonses.com"])
        return [
            Record(of="MailFrom", name=name, kind="MX", value=server),
            Record(of="Spf", name=name, kind="TXT", value='"v=spf1 include:amazonses.com ~all"'),
        ]

    def _of_dmarc(self) -> list[Record]:
        """Return the DMARC record, if the stage has one.

        https://docs.aws.amazon.com/ses/latest/dg/send-email-authentication-dmarc.html
        """
        stage = self._stage
        if not stage.dmarc:
            return []
        name = f"_dmarc.{stage.domain}"
        return [Record(of="Dmarc", name=name, kind="TXT", value=f'"{stage.dmarc}"')]

    def _write(self, records: list[Record]) -> None:
        stage = self._stage
        for each in records:
            record = route53.CfnRecordSet(
                self,
                each.of,
                hosted_zone_id=stage.hosted_zone["id"],
                name=each.name,
                type=each.kind,
                ttl=_SECONDS,
                resource_records=[each.value],
            )
            if stage.retain:
                record.apply_removal_policy(RemovalPolicy.RETAIN)

    def _print(self, records: list[Record]) -> None:
        for each in records:
            CfnOutput(
                Stack.of(self),
                f"Dns{each.of}",
                description=f"A DNS record for {self._stage.domain}: name, type and value.",
                value=Fn.join(" ", [each.name, each.kind, each.value]),
            )
        Annotations.of(self).add_info(
            f"Create the outputs Dns… of this stack as DNS records of {self._stage.domain}. SES "
            "sends email once it finds the DKIM records."
        )
