"""How email is sent."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from infra.stage.checks.addresses import is_under, wrong_domain, wrong_host, wrong_sender
from infra.stage.checks.wrong import Wrong, no_choice

_DMARC = re.compile(r"v=DMARC1; ?p=(none|quarantine|reject)(; ?[a-z]+=[!#-:<-~]+)*;?")


@dataclass(frozen=True, kw_only=True)
class Sending:
    """How email is sent."""

    mail_provider: str = "ses"
    """`ses`, or `smtp` for any other provider.

    With `smtp`, `smtp_host`, `emails_per_second` and another `unknown_policy` than `resend` are
    required."""

    immediate_sender: str = ""
    """Who immediate emails come from. Empty: `sender`.

    As `sender`."""

    domain: str = ""
    """The domain that the stack verifies in SES, such as `shop.example`: DKIM, MAIL FROM, DMARC.
    Empty: you have verified the sender yourself.

    Each sender must be under it. Synthesis refuses the domain of another stage with the same
    account and region. If it is verified there already, the deployment fails. Needs `ses`."""

    sandbox: bool = False
    """The SES account is in the sandbox: functions may then use each of its identities, as this
    sender. Otherwise only those of the sender.

    If it is in the sandbox and this is not `true`, SES refuses what goes to a verified recipient:
    the circuit breaker opens. Leave it out once AWS has let the account out."""

    hosted_zone: dict[str, str] = field(default_factory=dict)
    """The Route 53 zone into which the stack writes DNS records, such as
    `{"id": "Z0123456789ABC", "name": "shop.example"}`. Empty: the records are outputs of the data
    stack, and you enter them yourself.

    Must have both, and `domain` must be under the name. Synthesis refuses two stages that write the
    same record. Any other record that exists is not overwritten: the deployment fails."""

    mail_from_domain: str = ""
    """Where bounces go, for SPF. Empty: `bounce.` before `domain`.

    A subdomain of `domain` in which nothing else sends or receives email. Needs `domain`."""

    dmarc: str = "v=DMARC1; p=none"
    """The DMARC record of `domain`, such as `v=DMARC1; p=none; rua=mailto:dmarc@shop.example`, to
    get reports. Empty: none is written, because you have one.

    Anything but a DMARC record is refused. With `p=reject`, receivers refuse what is not
    authenticated, email of other systems with this domain too."""

    tls: str = "optional"
    """`optional`: SES encrypts email to every server that can. `require`: it sends no other.

    With `require`, email to a server without TLS bounces."""

    digest_pool: str = ""
    """The dedicated IP pool of SES for digests. Empty: as the account sends.

    SES refuses a pool that does not exist. Needs `ses`."""

    immediate_pool: str = ""
    """The dedicated IP pool of SES for immediate emails. Empty: as the account sends.

    As `digest_pool`."""

    send_timeout: int = 10
    """[seconds] How long SES may take for one email.

    3 to 60; with `commit_margin` at most the time-out of `generate`. Too short: more outcomes are
    unknown."""

    smtp_host: str = ""
    """The SMTP server, such as `smtp.shop.example`.

    Required with `smtp`. Anything but a host name in ASCII or an IP address is refused."""

    smtp_port: int = 465
    """The port of the SMTP server.

    1 to 65535. Wrong: the worker cannot connect, and email waits and is tried again."""

    smtp_security: str = "tls"
    """`tls` from the start, `starttls`, or `none`.

    `none` together with `smtp_secret` is refused: the password would travel as plain text."""

    smtp_secret: str = ""
    """The name of a Secrets Manager secret with `{"username": …, "password": …}`, both in ASCII.
    Empty: no login.

    A wrong login stops all email: the circuit breaker opens."""

    smtp_command_timeout: int = 20
    """[seconds] How long each of nine stages of the SMTP exchange may take, to the message's end.

    5 to 60, and an email may take no longer than an invocation (900 seconds)."""

    smtp_reply_timeout: int = 600
    """[seconds] How long the SMTP server may take to answer once it has the message.

    60 to 720. Too short: more outcomes are unknown."""

    @property
    def bounce_domain(self) -> str:
        """The MAIL FROM domain; empty without `domain`."""
        return self.mail_from_domain or (f"bounce.{self.domain}" if self.domain else "")


def wrong_with_sending(sending: Sending) -> Iterator[Wrong]:
    """What no stage may say of how email is sent."""
    if sending.immediate_sender:
        yield from wrong_sender("immediate_sender", sending.immediate_sender)
    yield from no_choice(sending, {"tls": ("optional", "require")})
    for setting in ("digest_pool", "immediate_pool"):
        if not re.fullmatch(r"[a-z0-9_-]{0,64}", getattr(sending, setting)):
            yield Wrong(
                f"{setting} must be the name of a dedicated IP pool, such as digests: up to 64 of "
                "a-z, 0-9, _ and -.",
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
            f"domain must be {zone['name']} or below it, the name of hosted_zone.",
            of=("domain", "hosted_zone"),
        )
