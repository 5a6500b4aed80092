"""Whether email of a stage may go out, and whether receivers will take it."""

import json
from collections.abc import Iterator

from cli.cost.prices import read_prices
from cli.doctor.findings import Finding, Unseen, ok, problem, unseen, warning
from cli.doctor.mail_facts import Answer, MailFacts, Sender
from cli.shared.next_commands import to_run

_SES = "https://docs.aws.amazon.com/ses/latest"
_DOMAIN = "docs/sending.md#authenticate-your-domain"
_NEEDED = {"SEND", "BOUNCE", "COMPLAINT", "REJECT", "DELIVERY_DELAY"}
_BRIDGE = "EventBridgeDestination"


def check_mail(facts: MailFacts) -> Iterator[Finding]:
    """Everything about SES and the domain."""
    yield from check_account(facts)
    for sender in facts.senders:
        yield check_identity(sender)
        if isinstance(sender.identity, dict):
            yield check_dkim(sender, sender.identity)
            yield check_mail_from(sender, sender.identity)
        yield check_dmarc(sender)
    for name, found in facts.destinations.items():
        yield check_destinations(name, found)


def check_account(facts: MailFacts) -> Iterator[Finding]:
    """Whether SES lets the account send, at which rate, and on which plan."""
    account = facts.account
    if account is None or isinstance(account, Unseen):
        yield unseen("ses account", account or Unseen("SES has no such account"))
        return
    yield check_sending(account, facts.stage)
    yield check_sandbox(account)
    yield check_quota(account, facts.rate)
    yield check_plan(account)


def check_sending(account: Answer, stage: str) -> Finding:
    """Whether sending is paused, or the account under review."""
    page = f"{_SES}/dg/monitoring-sender-reputation-pausing.html"
    status = account.get("EnforcementStatus", "HEALTHY")
    if not account.get("SendingEnabled", True) or status == "SHUTDOWN":
        todo = "Read AWS's case in the SES console (Reputation metrics) and answer it."
        return problem("ses sending", f"SES does not send: {status}", todo, page)
    if status != "HEALTHY":
        todo = (
            f"Find what bounced or drew complaints with `{to_run('statistics', stage=stage)}`; "
            "answer AWS's case."
        )
        return warning("ses sending", f"the account is under review: {status}", todo, page)
    return ok("ses sending", "enabled, and the account is healthy")


def check_sandbox(account: Answer) -> Finding:
    """In the sandbox readers must be verified one by one."""
    if account.get("ProductionAccessEnabled"):
        return ok("ses sandbox", "the account has production access")
    todo = "Ask for production access before readers are to get email."
    page = f"{_SES}/dg/request-production-access.html"
    return warning("ses sandbox", "SES sends to verified addresses only", todo, page)


def check_quota(account: Answer, rate: int) -> Finding:
    """The account's rate against the stage's, and what is left of the day."""
    quota = account.get("SendQuota", {})
    most, daily = quota.get("MaxSendRate", 0), quota.get("Max24HourSend", -1)
    sent = quota.get("SentLast24Hours", 0)
    day = "no daily quota" if daily < 0 else f"{sent:,.0f} of {daily:,.0f} in 24 hours"
    seen = f"at most {most:g} emails a second; {day}"
    page = f"{_SES}/dg/manage-sending-quotas.html"
    if rate > most:
        todo = f"Lower emails_per_second ({rate}) or ask SES for more: what is above is refused."
        return problem("ses quota", seen, todo, page)
    if 0 <= daily * 0.9 <= sent:
        return warning("ses quota", seen, "Ask SES for more: the rest waits for tomorrow.", page)
    return ok("ses quota", seen)


def check_plan(account: Answer) -> Finding:
    """What SES charges. Plans are since July 2026; Gazette needs nothing that they include."""
    plan = account.get("PricingAttributes", {}).get("CurrentPlan")
    plans = read_prices().plans
    if not plan or plan.lower() not in plans:
        return ok("ses plan", "SES names none")
    thousand, without = (plans[each].of(1_000) for each in (plan.lower(), "none"))
    seen = f"{plan.lower()}, ${thousand:.2f} per 1,000 emails"
    if plan == "NONE":
        return ok("ses plan", seen)
    todo = f"Without a plan 1,000 emails cost ${without:.2f}; leave it unless others need it."
    return warning("ses plan", seen, todo, f"{_SES}/APIReference-V2/API_PricingAttributes.html")


def check_identity(sender: Sender) -> Finding:
    """SES sends from verified identities only."""
    check, page = f"identity {sender.address}", _DOMAIN
    if isinstance(sender.identity, Unseen):
        return unseen(check, sender.identity)
    if sender.identity is None:
        return problem(check, "SES knows neither the address nor its domain", "Verify it.", page)
    if not sender.identity.get("VerifiedForSendingStatus"):
        status = sender.identity.get("VerificationStatus", "PENDING")
        todo = "Enter the records of DKIM in the DNS; SES looks for 72 hours."
        return problem(check, f"{sender.name} is not verified: {status}", todo, page)
    return ok(check, f"{sender.name} is verified")


def check_dkim(sender: Sender, identity: Answer) -> Finding:
    """Bulk email without a signature of the sender's domain is refused."""
    dkim, check = identity.get("DkimAttributes", {}), f"dkim {sender.address}"
    if dkim.get("SigningEnabled") and dkim.get("Status") == "SUCCESS":
        return ok(check, "SES signs")
    state = dkim.get("Status", "NOT_STARTED") if dkim.get("SigningEnabled") else "switched off"
    todo = "Enter the three CNAME records of DKIM in the DNS, or set `domain` and `hosted_zone`."
    return problem(check, f"SES does not sign: {state}", todo, _DOMAIN)


def check_mail_from(sender: Sender, identity: Answer) -> Finding:
    """Without it SPF passes for a domain of SES, and is not aligned."""
    mail_from, check = identity.get("MailFromAttributes", {}), f"mail from {sender.address}"
    name, state = mail_from.get("MailFromDomain"), mail_from.get("MailFromDomainStatus")
    page = f"{_SES}/dg/mail-from.html"
    if not name:
        todo = "Set `domain`, or a MAIL FROM domain in SES: Outlook.com asks for SPF too."
        return warning(check, "bounces go to a domain of SES", todo, page)
    if state != "SUCCESS":
        todo = f"Enter its MX and TXT record in the DNS; until then SES uses its own ({state})."
        return warning(check, f"SES does not see the MX record of {name}", todo, page)
    return ok(check, name)


def check_dmarc(sender: Sender) -> Finding:
    """One record, at least `p=none`, is what Gmail, Yahoo and Outlook.com ask for."""
    check = f"dmarc {sender.address}"
    if isinstance(sender.dmarc, Unseen):
        return unseen(check, sender.dmarc)
    if not sender.dmarc:
        domain = sender.address.rpartition("@")[2]
        todo = f'Enter the TXT record _dmarc.{domain} "v=DMARC1; p=none", or set `domain`.'
        return problem(check, "there is no DMARC record", todo, _DOMAIN)
    if len(sender.dmarc) > 1:
        todo = "Leave one: receivers ignore several (RFC 9989)."
        return problem(check, f"{len(sender.dmarc)} DMARC records", todo, _DOMAIN)
    return ok(check, sender.dmarc[0])


def check_destinations(name: str, found: Answer | Unseen | None) -> Finding:
    """Without them bounces go unnoticed, and outcomes stay unknown."""
    check, page = f"events of {name}", "docs/runbook/delivery-events-missing.md"
    if isinstance(found, Unseen):
        return unseen(check, found)
    ours = [each for each in (found or {}).get("EventDestinations", ()) if _BRIDGE in each]
    told = {
        kind for each in ours if each.get("Enabled") for kind in each.get("MatchingEventTypes", ())
    }
    if missing := sorted(_NEEDED - told):
        why = (
            "no deployment does, because CloudFormation does not read event destinations; bounces "
            "and complaints go unnoticed meanwhile."
        )
        back = f"`{_put_back(name, ours[0])}`" if ours else "The command on that page"
        todo = f"{back} puts it back: {why}"
        return problem(check, f"not published: {', '.join(missing)}", todo, page)
    return ok(check, f"{len(told)} types go to the default bus")


def _put_back(name: str, destination: Answer) -> str:
    """The command that lets a destination publish again what it has to.

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
