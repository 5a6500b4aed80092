"""What is wrong with the settings of a stage about its sending domain and its tracking domain."""

import re

from infra.stage import Stage

DOMAIN = re.compile(
    r"(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]"
)
"""A domain name of at least two labels, in lower case; an international one as Punycode."""

_ZONE = {"id", "name"}


def wrong_with_domain(stage: Stage) -> str | None:
    """A sentence that names the setting and says what to do; None if all is right."""
    for setting, stream in zip(("sender", "immediate_sender"), stage.streams, strict=True):
        if wrong := _wrong_with_case(setting, stream.address):
            return wrong
    for setting, domain in (
        ("domain", stage.domain),
        ("mail_from_domain", stage.mail_from_domain),
        ("tracking_domain", stage.tracking_domain),
    ):
        if domain and not DOMAIN.fullmatch(domain):
            written = domain.lower() if DOMAIN.fullmatch(domain.lower()) else "mail.shop.example"
            return f"{setting} must be a domain in lower case, such as {written}."
        if domain and stage.mail_provider != "ses":
            return f"{setting} is verified in SES and needs mail_provider ses."
    if stage.tracking_domain and not (stage.track_clicks or stage.track_opens):
        return "tracking_domain needs track_clicks or track_opens: else nothing leads there."
    return _wrong_with_zone(stage) or _wrong_with_identity(stage)


def is_under(domain: str, parent: str) -> bool:
    """Whether `domain` is `parent` or a subdomain of it."""
    return domain == parent or domain.endswith(f".{parent}")


def _wrong_with_case(setting: str, address: str) -> str | None:
    """The right to send names the ARN of an identity, and ARNs differ by case.

    Which case SES writes into it is on no page that we found: with lower case there is one.
    """
    local, _, domain = address.rpartition("@")
    if domain == domain.lower():
        return None
    return f"{setting} must have its domain in lower case: {local}@{domain.lower()}."


def _wrong_with_zone(stage: Stage) -> str | None:
    zone = stage.hosted_zone
    if not zone:
        return None
    if set(zone) != _ZONE or not all(type(each) is str and each for each in zone.values()):
        return 'hosted_zone must be like {"id": "Z0123456789ABC", "name": "shop.example"}.'
    if stage.domain and not is_under(stage.domain, zone["name"]):
        return f"domain must be {zone['name']} or below it, the name of hosted_zone."
    return None


def _wrong_with_identity(stage: Stage) -> str | None:
    """An identity verifies its domain and all subdomains.

    https://docs.aws.amazon.com/ses/latest/dg/creating-identities.html
    """
    if not stage.domain:
        return "mail_from_domain needs domain." if stage.mail_from_domain else None
    for setting, stream in zip(("sender", "immediate_sender"), stage.streams, strict=True):
        if not is_under(stream.address.rpartition("@")[2], stage.domain):
            return (
                f"{setting} {stream.address} must be under domain, {stage.domain}: SES signs for "
                "that domain only."
            )
    if not stage.bounce_domain.endswith(f".{stage.domain}"):
        return f"mail_from_domain must be a subdomain of domain, such as bounce.{stage.domain}."
    if stage.bounce_domain in {each.address.rpartition("@")[2] for each in stage.streams}:
        return "mail_from_domain must not be the domain of a sender: bounces arrive there."
    if stage.dmarc and not re.fullmatch(
        r"v=DMARC1; ?p=(none|quarantine|reject)(; ?[a-z]+=[!#-:<-~]+)*;?", stage.dmarc
    ):
        return (
            "dmarc must be a DMARC record, such as 'v=DMARC1; p=none; "
            "rua=mailto:dmarc@shop.example', or empty for none."
        )
    return None
