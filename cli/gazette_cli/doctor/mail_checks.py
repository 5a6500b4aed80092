"""Checks of the SES account and of the DNS records that mailbox providers require."""

import json
from collections.abc import Iterator

from gazette.settings.delivery import GenerateSettings
from gazette.steps.support.words.phrases import listed

from gazette_cli.cost.prices import read_prices
from gazette_cli.doctor.findings import Finding, Unseen, ok, problem, unseen, warning
from gazette_cli.doctor.mail_facts import Answer, MailFacts, Sender
from gazette_cli.shared.next_commands import to_run

_SES = "https://docs.aws.amazon.com/ses/latest"
_DOMAIN = "docs/sending.md#authenticate-your-domain"
_NEEDED = {"SEND", "BOUNCE", "COMPLAINT", "REJECT", "DELIVERY_DELAY"}
_BRIDGE = "EventBridgeDestination"


def check_mail(facts: MailFacts) -> Iterator[Finding]:
    """Check SES and the domains of the senders."""
    yield from check_account(facts)
    for sender in facts.senders:
        yield check_identity(sender)
        if isinstance(sender.identity, dict):
            yield check_dkim(sender, sender.identity)
            yield check_mail_from(sender, sender.identity)
        yield check_dmarc(sender)
    for name, answer in facts.destinations.items():
        yield check_destinations(name, answer)


def check_recipients(settings: GenerateSettings) -> Finding:
    """Report whether the stage sends only to some recipients."""
    check, allowed = "allowed recipients", settings.allowed
    if allowed.is_everyone:
        return ok(check, "the stage sends to all of its readers")
    entries = sorted([*allowed.addresses, *(f"@{domain}" for domain in allowed.domains)])
    return ok(check, f"the stage sends only to {listed(entries)}, and skips all other email")


def check_account(facts: MailFacts) -> Iterator[Finding]:
    """Check the sending status, the sandbox, the quota and the plan of the account."""
    account = facts.account
    if account is None or isinstance(account, Unseen):
        yield unseen("ses account", account or Unseen("SES returned no data for the account"))
        return
    yield check_sending(account, facts.stage)
    yield check_sandbox(account)
    yield check_quota(account, facts.rate)
    yield check_plan(account)


def check_sending(account: Answer, stage: str) -> Finding:
    """Check that sending is enabled and that the account is not under review."""
    page = f"{_SES}/dg/monitoring-sender-reputation-pausing.html"
    status = account.get("EnforcementStatus", "HEALTHY")
    if not account.get("SendingEnabled", True) or status == "SHUTDOWN":
        todo = "Answer the support case in the SES console (Reputation metrics)."
        return problem("ses sending", f"SES does not send email: {status}", todo, page)
    if status != "HEALTHY":
        todo = (
            f"To see bounces and complaints, run `{to_run('statistics', stage=stage)}`. Fix the "
            "cause, and answer the support case."
        )
        return warning("ses sending", f"the account is under review: {status}", todo, page)
    return ok("ses sending", "enabled, and the account is healthy")


def check_sandbox(account: Answer) -> Finding:
    """Check that the account is not in the sandbox. In the sandbox, every recipient must be
    verified.
    """
    if account.get("ProductionAccessEnabled"):
        return ok("ses sandbox", "the account has production access")
    todo = "Request production access before you send to readers."
    page = f"{_SES}/dg/request-production-access.html"
    return warning("ses sandbox", "SES sends only to verified addresses", todo, page)


def check_quota(account: Answer, rate: int) -> Finding:
    """Compare the sending rate of the stage with the account's limit, and check the daily quota."""
    quota = account.get("SendQuota", {})
    most, daily = quota.get("MaxSendRate", 0), quota.get("Max24HourSend", -1)
    sent = quota.get("SentLast24Hours", 0)
    day = "no daily quota" if daily < 0 else f"{sent:,.0f} of {daily:,.0f} emails sent in 24 hours"
    seen = f"at most {most:g} emails per second; {day}"
    page = f"{_SES}/dg/manage-sending-quotas.html"
    if rate > most:
        todo = (
            f"Lower emails_per_second ({rate}), or request a higher sending rate. SES rejects "
            "emails that exceed the rate."
        )
        return problem("ses quota", seen, todo, page)
    if 0 <= daily * 0.9 <= sent:
        todo = "Request a higher quota. Emails that exceed the quota wait until the next day."
        return warning("ses quota", seen, todo, page)
    return ok("ses quota", seen)


def check_plan(account: Answer) -> Finding:
    """Check the SES price plan. Gazette does not need the features of plans, which SES introduced
    in July 2026.
    """
    plan = account.get("PricingAttributes", {}).get("CurrentPlan")
    plans = read_prices().plans
    if not plan or plan.lower() not in plans:
        return ok("ses plan", "unknown")
    thousand, without = (plans[each].of(1_000) for each in (plan.lower(), "none"))
    seen = f"{plan.lower()}, ${thousand:.2f} per 1,000 emails"
    if plan == "NONE":
        return ok("ses plan", seen)
    todo = (
        f"Without a plan, 1,000 emails cost ${without:.2f}. Cancel the plan unless other "
        "applications need it."
    )
    return warning("ses plan", seen, todo, f"{_SES}/APIReference-V2/API_PricingAttributes.html")


def check_identity(sender: Sender) -> Finding:
    """Check that SES has verified the identity of the sender."""
    check, page = f"identity {sender.address}", _DOMAIN
    if isinstance(sender.identity, Unseen):
        return unseen(check, sender.identity)
    if sender.identity is None:
        seen = "neither the address nor its domain is an identity in SES"
        return problem(check, seen, "Verify the domain.", page)
    if not sender.identity.get("VerifiedForSendingStatus"):
        status = sender.identity.get("VerificationStatus", "PENDING")
        todo = "Add the DKIM records to DNS. SES checks for these records for 72 hours."
        return problem(check, f"{sender.name} is not verified: {status}", todo, page)
    return ok(check, f"{sender.name} is verified")


def check_dkim(sender: Sender, identity: Answer) -> Finding:
    """Check DKIM. Mailbox providers reject bulk email that is not signed by the sender's domain."""
    dkim, check = identity.get("DkimAttributes", {}), f"dkim {sender.address}"
    if dkim.get("SigningEnabled") and dkim.get("Status") == "SUCCESS":
        return ok(check, "SES signs email")
    state = dkim.get("Status", "NOT_STARTED") if dkim.get("SigningEnabled") else "switched off"
    todo = "Add the three DKIM CNAME records to DNS, or set `domain` and `hosted_zone`."
    return problem(check, f"SES does not sign email: {state}", todo, _DOMAIN)


def check_mail_from(sender: Sender, identity: Answer) -> Finding:
    """Check the MAIL FROM domain. Without this domain, SPF passes only for a domain of SES and is
    not aligned with the sender.
    """
    mail_from, check = identity.get("MailFromAttributes", {}), f"mail from {sender.address}"
    name, state = mail_from.get("MailFromDomain"), mail_from.get("MailFromDomainStatus")
    page = f"{_SES}/dg/mail-from.html"
    if not name:
        todo = (
            "Set `domain`, or set a MAIL FROM domain in SES. Outlook.com also requires aligned SPF."
        )
        return warning(check, "bounces are sent to an SES domain", todo, page)
    if state != "SUCCESS":
        todo = (
            "Add the MX and TXT records of the MAIL FROM domain to DNS. Until then, SES uses "
            f"its own domain ({state})."
        )
        return warning(check, f"SES cannot find the MX record of {name}", todo, page)
    return ok(check, name)


def check_dmarc(sender: Sender) -> Finding:
    """Check for exactly one DMARC record. Gmail, Yahoo and Outlook.com require at least
    `p=none`.
    """
    check = f"dmarc {sender.address}"
    if isinstance(sender.dmarc, Unseen):
        return unseen(check, sender.dmarc)
    if not sender.dmarc:
        domain = sender.address.rpartition("@")[2]
        todo = f'Add the TXT record _dmarc.{domain} "v=DMARC1; p=none", or set `domain`.'
        return problem(check, "there is no DMARC record", todo, _DOMAIN)
    if len(sender.dmarc) > 1:
        todo = "Keep only one DMARC record. Receivers ignore DMARC if there are several (RFC 9989)."
        return problem(check, f"{len(sender.dmarc)} DMARC records", todo, _DOMAIN)
    return ok(check, sender.dmarc[0])


def check_destinations(name: str, answer: Answer | Unseen | None) -> Finding:
    """Check that a configuration set publishes the delivery events that Gazette needs."""
    check, page = f"events of {name}", "docs/runbook/delivery-events-missing.md"
    if isinstance(answer, Unseen):
        return unseen(check, answer)
    ours = [each for each in (answer or {}).get("EventDestinations", ()) if _BRIDGE in each]
    published = {
        kind for each in ours if each.get("Enabled") for kind in each.get("MatchingEventTypes", ())
    }
    if missing := sorted(_NEEDED - published):
        why = (
            "A deployment does not restore the destination, because CloudFormation does not "
            "read event destinations. Until you restore it, Gazette receives no bounces and "
            "complaints."
        )
        back = f"`{_put_back(name, ours[0])}`" if ours else "The command on the runbook page"
        todo = f"{back} restores the destination. {why}"
        return problem(check, f"event types not published: {', '.join(missing)}", todo, page)
    return ok(check, f"{len(published)} event types are published to the default bus")


def _put_back(name: str, destination: Answer) -> str:
    """Return the command that restores the event types of a destination.

    https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_UpdateConfigurationSetEventDestination.html
    """
    kinds = sorted({*_NEEDED, *destination.get("MatchingEventTypes", ())})
    published = {
        "Enabled": True,
        "MatchingEventTypes": kinds,
        _BRIDGE: destination[_BRIDGE],
    }
    return (
        f"aws sesv2 update-configuration-set-event-destination --configuration-set-name {name} "
        f"--event-destination-name {destination['Name']} "
        f"--event-destination '{json.dumps(published)}'"
    )
