"""Checks of settings whose valid values depend on settings in other groups."""

import re
from collections.abc import Iterator

from gazette.settings.budgets import LONGEST_INVOCATION, MAX_RATE_WITH_SMTP
from gazette.settings.ranges import SECOND

from gazette_cdk.stage.checks.addresses import domain_of, is_domain, is_under
from gazette_cdk.stage.checks.wrong import Wrong
from gazette_cdk.stage.content import RECOMMENDATION
from gazette_cdk.stage.stage import Stage
from gazette_cdk.topology import GENERATE


def wrong_together(stage: Stage) -> Iterator[Wrong]:
    """Yield the problems with settings that depend on each other."""
    yield from _wrong_with_senders(stage)
    yield from _wrong_with_smtp(stage)
    yield from _wrong_with_times(stage)
    yield from _wrong_with_content(stage)
    if stage.allowed_recipients and stage.retain:
        yield Wrong(
            "allowed_recipients must be empty with retain, because a production stage sends to all "
            "of its readers. Remove the list, or set retain to false.",
            of=("allowed_recipients", "retain"),
        )
    if stage.events_out and stage.bus == stage.out_bus:
        yield Wrong(
            f"bus must not be {stage.out_bus}, which is the bus of events out. Choose a different "
            "name.",
            of=("bus", "events_out"),
        )
    if stage.links_host:
        yield from _wrong_with_links(stage)


def _wrong_with_senders(stage: Stage) -> Iterator[Wrong]:
    """Yield a problem for each sender outside `domain`, because its SES identity does not verify
    them.

    https://docs.aws.amazon.com/ses/latest/dg/creating-identities.html
    """
    if not is_domain(stage.domain):
        return
    senders = {"sender": stage.sender, "immediate_sender": stage.immediate_sender}
    domains = {setting: domain_of(sender) for setting, sender in senders.items() if sender}
    for setting, domain in domains.items():
        if not is_under(domain, stage.domain):
            yield Wrong(
                f"{setting} must be under domain, {stage.domain}, not {domain}, because SES signs "
                "only for that domain.",
                of=(setting, "domain"),
            )
    if stage.bounce_domain in domains.values():
        yield Wrong(
            "mail_from_domain must not be the domain of a sender, because bounces arrive there.",
            of=("mail_from_domain", "domain", "sender", "immediate_sender"),
        )


def _wrong_with_smtp(stage: Stage) -> Iterator[Wrong]:
    if stage.mail_provider != "smtp":
        return
    if stage.unknown_policy == "resend":
        yield Wrong(
            "mail_provider smtp needs unknown_policy carry_over or assume_sent. resend waits for "
            "proof that delivery events arrive, which only SES can give.",
            of=("mail_provider", "unknown_policy"),
        )
    if stage.track_clicks or stage.track_opens or stage.feedback_by_sns:
        yield Wrong(
            "track_clicks, track_opens and feedback_by_sns need mail_provider ses, because they "
            "configure SES. For events of another provider, see docs/delivery-events.md.",
            of=("mail_provider", "track_clicks", "track_opens", "feedback_by_sns"),
        )
    if stage.tracking_domain:
        yield Wrong(
            "tracking_domain is verified in SES and needs mail_provider ses.",
            of=("tracking_domain", "mail_provider"),
        )
    if stage.emails_per_second > MAX_RATE_WITH_SMTP:
        yield Wrong(
            f"emails_per_second must be at most {MAX_RATE_WITH_SMTP} with mail_provider smtp, "
            "because each email writes one row of DynamoDB.",
            of=("emails_per_second", "mail_provider"),
        )
    if not stage.emails_per_second:
        yield Wrong(
            "mail_provider smtp needs emails_per_second, because only SES has a quota that gives "
            "the rate.",
            of=("mail_provider", "emails_per_second"),
        )


def _wrong_with_times(stage: Stage) -> Iterator[Wrong]:
    if (longest := stage.sized(GENERATE).timeout) > LONGEST_INVOCATION // SECOND:
        yield Wrong(
            "smtp_reply_timeout and nine SMTP steps of 20 seconds add up to "
            f"{longest} seconds for an email, including preparation. Lower it so that the sum is "
            f"at most {LONGEST_INVOCATION // SECOND}, the longest invocation of a function.",
            of=("smtp_reply_timeout",),
        )
    if 2 * stage.feedback_window > stage.evidence_grace:
        yield Wrong(
            "feedback_window must be at most half of evidence_grace, "
            f"{stage.evidence_grace // (2 * SECOND)}. Otherwise unknown_policy would apply while "
            "Lambda still collects the evidence.",
            of=("feedback_window", "evidence_grace"),
        )


def _wrong_with_content(stage: Stage) -> Iterator[Wrong]:
    if not stage.asks_source:
        return
    if RECOMMENDATION in stage.critical_categories:
        yield Wrong(
            f"critical_categories must not have {RECOMMENDATION}, because readers can always turn "
            "off the items of a content source.",
            of=("critical_categories", "content_sources"),
        )
    if 2 * stage.recommendations_patience > stage.max_lateness:
        yield Wrong(
            "recommendations_patience must be at most half of max_lateness, "
            f"{stage.max_lateness // (2 * SECOND)}. A digest that waits longer would not be sent.",
            of=("recommendations_patience", "max_lateness"),
        )


def _wrong_with_links(stage: Stage) -> Iterator[Wrong]:
    if not stage.links_certificate and not stage.links_are_in_zone:
        yield Wrong(
            "links_domain must be under the name of hosted_zone. If its zone is elsewhere, set "
            "links_certificate.",
            of=("links_domain", "hosted_zone", "links_certificate"),
        )
    if not _is_certificate(stage.links_certificate, stage.region or r"[a-z0-9-]+"):
        yield Wrong(
            "links_certificate must be the ARN of an ACM certificate in the Region of the stage.",
            of=("links_certificate", "region"),
        )
    if not _is_certificate(stage.front_certificate, "us-east-1"):
        yield Wrong(
            "front_certificate must be the ARN of an ACM certificate in us-east-1.",
            of=("front_certificate",),
        )
    if not stage.front_rate_limit:
        return
    if not stage.front_certificate and not stage.links_are_in_zone:
        yield Wrong(
            "front_rate_limit needs front_certificate if the zone of links_domain is elsewhere.",
            of=("front_rate_limit", "front_certificate", "hosted_zone"),
        )
    if not stage.region:
        yield Wrong(
            "front_rate_limit needs region, because WAF rules for CloudFront are in us-east-1.",
            of=("front_rate_limit", "region"),
        )


def _is_certificate(arn: str, region: str) -> bool:
    """Return True if `arn` is empty or the ARN of a certificate in the Region."""
    return not arn or bool(
        re.fullmatch(rf"arn:aws[a-z-]*:acm:{region}:\d{{12}}:certificate/.+", arn)
    )
