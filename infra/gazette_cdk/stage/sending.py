"""Settings of the mail provider, its identities and its time-outs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from gazette_cdk.stage.checks.addresses import is_under, wrong_domain, wrong_host, wrong_sender
from gazette_cdk.stage.checks.wrong import Wrong, no_choice

_DMARC = re.compile(r"v=DMARC1; ?p=(none|quarantine|reject)(; ?[a-z]+=[!#-:<-~]+)*;?")


@dataclass(frozen=True, kw_only=True)
class Sending:
    """Sending."""

    mail_provider: str = "ses"
    """The mail provider: `ses`, or `smtp` for any other provider.

    `smtp` requires `smtp_host`, `emails_per_second` and an `unknown_policy` other than `resend`.
    """

    allowed_recipients: list[str] = field(default_factory=list)
    """The only recipients of email, for a stage that is not production, such as
    `["@shop.example", "qa@partner.example"]`. `@` allows every address of a domain, but not of its
    subdomains. Gazette [skips the email](sending.md#allowed-recipients) of all other readers.
    Empty: everyone.

    Each entry must be an address, or a domain after `@`. The list may have at most 1,000 characters
    of JSON. Synthesis refuses a list together with `retain`.
    """

    immediate_sender: str = ""
    """The sender of immediate emails. Empty: `sender`.

    SES must have verified the address or its domain.
    """

    domain: str = ""
    """The domain that the stack verifies in SES, such as `shop.example`, with DKIM, MAIL FROM and
    DMARC. Empty: you have verified the sender yourself.

    Each sender must be in this domain or a subdomain. Synthesis refuses the domain of another stage
    with the same account and Region. The deployment fails if the domain is already verified in the
    account. Needs `ses`.
    """

    sandbox: bool = False
    """Permissions for an SES account in the sandbox. `true`: functions may use every SES identity
    of the account, including verified recipients, with this sender. `false`: functions may use only
    the sender's identities.

    Must be `true` in the sandbox. Otherwise SES rejects email to verified recipients, and the
    circuit breaker opens. Remove the setting once AWS has moved the account out of the sandbox.
    """

    hosted_zone: dict[str, str] = field(default_factory=dict)
    """The Route 53 zone in which the stack creates DNS records, such as
    `{"id": "Z0123456789ABC", "name": "shop.example"}`. Empty: the records are outputs of the data
    stack, and you create them yourself.

    Must have both keys, and `domain` must be the zone's name or a subdomain. Synthesis refuses two
    stages that create the same record. If a record already exists, the deployment fails and does
    not overwrite it.
    """

    mail_from_domain: str = ""
    """The domain of the bounce address (MAIL FROM), for SPF. Empty: `domain` with the prefix
    `bounce.`.

    Must be a subdomain of `domain` that no other system uses for email. Needs `domain`.
    """

    dmarc: str = "v=DMARC1; p=none"
    """The DMARC record of `domain`, such as `v=DMARC1; p=none; rua=mailto:dmarc@shop.example` to
    get reports. Empty: the stack does not create a DMARC record, because you already have one.

    Must be a DMARC record. With `p=reject`, receivers reject all email from this domain that is not
    authenticated, including email of your other systems.
    """

    tls: str = "optional"
    """The encryption of email in transit. `optional`: SES encrypts if the receiving server
    supports TLS. `require`: SES does not send without TLS.

    With `require`, email to a server without TLS bounces."""

    digest_pool: str = ""
    """The dedicated SES IP pool for digests. Empty: the account's default pool.

    SES rejects email for a pool that does not exist. Needs `ses`."""

    immediate_pool: str = ""
    """The dedicated SES IP pool for immediate emails. Empty: the account's default pool.

    SES rejects email for a pool that does not exist. Needs `ses`."""

    smtp_host: str = ""
    """The SMTP server, such as `smtp.shop.example`.

    Required with `smtp`. Must be a host name in ASCII or an IP address."""

    smtp_port: int = 465
    """The port of the SMTP server.

    1 to 65535. With a wrong port, the worker cannot connect. Email then waits and is retried."""

    smtp_security: str = "tls"
    """The encryption of the connection: `tls` from the start, `starttls`, or `none`.

    Synthesis refuses `none` together with `smtp_secret`, because the password would be sent as
    plain text.
    """

    smtp_secret: str = ""
    """The name of a Secrets Manager secret with `{"username": …, "password": …}`, both in ASCII.
    Empty: no login.

    With a wrong login, the circuit breaker opens and all email stops.
    """

    @property
    def bounce_domain(self) -> str:
        """The MAIL FROM domain, or an empty string if `domain` is empty."""
        return self.mail_from_domain or (f"bounce.{self.domain}" if self.domain else "")


def wrong_with_sending(sending: Sending) -> Iterator[Wrong]:
    """Yield the problems with the settings of the mail provider."""
    if sending.immediate_sender:
        yield from wrong_sender("immediate_sender", sending.immediate_sender)
    yield from no_choice(sending, {"tls": ("optional", "require")})
    for setting in ("digest_pool", "immediate_pool"):
        if not re.fullmatch(r"[a-z0-9_-]{0,64}", getattr(sending, setting)):
            yield Wrong(
                f"{setting} must be the name of a dedicated IP pool, such as digests: at most 64 "
                "characters of a-z, 0-9, _ and -.",
                of=(setting,),
            )
    yield from _wrong_with_provider(sending)
    yield from _wrong_with_domain(sending)
    yield from _wrong_with_zone(sending)


def _wrong_with_provider(sending: Sending) -> Iterator[Wrong]:
    if sending.mail_provider == "smtp" and not sending.smtp_host:
        yield Wrong("mail_provider smtp needs smtp_host.", of=("mail_provider", "smtp_host"))
    yield from wrong_host("smtp_host", sending.smtp_host)
    if sending.mail_provider == "ses":
        return
    for setting in ("digest_pool", "immediate_pool"):
        if getattr(sending, setting):
            yield Wrong(
                f"{setting} is a dedicated IP pool of SES and needs mail_provider ses.",
                of=(setting, "mail_provider"),
            )
    for setting in ("domain", "mail_from_domain"):
        if getattr(sending, setting):
            yield Wrong(
                f"{setting} is verified in SES and needs mail_provider ses.",
                of=(setting, "mail_provider"),
            )


def _wrong_with_domain(sending: Sending) -> Iterator[Wrong]:
    yield from wrong_domain("domain", sending.domain)
    yield from wrong_domain("mail_from_domain", sending.mail_from_domain)
    if not sending.domain:
        if sending.mail_from_domain:
            yield Wrong("mail_from_domain needs domain.", of=("mail_from_domain", "domain"))
        return
    if not sending.bounce_domain.endswith(f".{sending.domain}"):
        yield Wrong(
            f"mail_from_domain must be a subdomain of domain, such as bounce.{sending.domain}.",
            of=("mail_from_domain", "domain"),
        )
    if sending.dmarc and not _DMARC.fullmatch(sending.dmarc):
        yield Wrong(
            "dmarc must be a DMARC record, such as 'v=DMARC1; p=none; "
            "rua=mailto:dmarc@shop.example', or empty for none.",
            of=("dmarc", "domain"),
        )


def _wrong_with_zone(sending: Sending) -> Iterator[Wrong]:
    zone = sending.hosted_zone
    if not zone:
        return
    if set(zone) != {"id", "name"} or not all(type(each) is str and each for each in zone.values()):
        yield Wrong(
            'hosted_zone must be like {"id": "Z0123456789ABC", "name": "shop.example"}.',
            of=("hosted_zone",),
        )
    elif sending.domain and not is_under(sending.domain, zone["name"]):
        yield Wrong(
            f"domain must be {zone['name']}, the name of hosted_zone, or one of its subdomains.",
            of=("domain", "hosted_zone"),
        )
