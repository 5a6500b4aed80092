"""Whether functions may run as often as the email that SES takes needs, and the account lets them.

`gazette.settings.concurrency` has sized them, by a rate and a limit that the stage was told.
"""

from collections.abc import Iterator, Mapping

from gazette.domain.delivery.pace import MAX_RATE, QUOTA_SHARE
from gazette.settings.concurrency import ASSUMED_QUOTA, LEAST, NEARLY_ALL, Size, senders
from gazette.settings.delivery import GenerateSettings

from cli.doctor.findings import Finding, Unseen, ok, unseen, warning
from cli.doctor.stage_checks import size_of_mapping
from cli.doctor.stage_facts import ALARM, FUNCTION, MAPPING, Looked, StageFacts

_LAMBDA = "https://docs.aws.amazon.com/lambda/latest/dg"
_QUOTA = (
    "aws service-quotas request-service-quota-increase --service-code lambda "
    "--quota-code L-B99A9384 --desired-value"
)
"""Lambda calls it Concurrent executions.
https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html"""


def check_sizes(
    facts: StageFacts, settings: GenerateSettings, account: Looked
) -> Iterator[Finding]:
    """`account`: what GetAccount of SES says; None where the mail provider is an SMTP server."""
    yield from check_limit(facts)
    rate = rate_of(settings, account)
    if rate:
        yield from check_senders(facts, settings, rate, is_growing=_is_sandbox(account))


def check_limit(facts: StageFacts) -> Iterator[Finding]:
    """What Lambda lets the account run at once, against what is needed and what was said."""
    check = "lambda concurrency"
    if facts.limits is None or isinstance(facts.limits, Unseen):
        yield unseen(check, facts.limits or Unseen("Lambda has no such account"))
        return
    limit = int(facts.limits["AccountLimit"]["ConcurrentExecutions"])
    yield _fits(check, facts, limit)
    if not isinstance(facts.resources, Unseen):
        yield _as_said(facts, limit)


def rate_of(settings: GenerateSettings, account: Looked) -> float:
    """Emails a second of both streams, as the rate limiter takes it; 0 where nobody knows."""
    if settings.emails_per_second or account is None or isinstance(account, Unseen):
        return settings.emails_per_second
    return min(MAX_RATE, QUOTA_SHARE * float(account.get("SendQuota", {}).get("MaxSendRate", 0)))


def check_senders(
    facts: StageFacts, settings: GenerateSettings, rate: float, *, is_growing: bool
) -> Iterator[Finding]:
    """Each queue of runs: what its mapping was deployed with, against what the rate needs.

    `is_growing`: the quota is that of the sandbox, so that it is no fault to have more. Nor is it
    one to have fewer for an SMTP server: it takes so many connections, and email waits in SQS.
    """
    needed = _senders(settings, rate)
    for each in facts.of(MAPPING):
        if each.name not in needed:
            continue
        said, size = size_of_mapping(each.made), needed[each.name]
        made = Size(said["MaximumConcurrency"], said["BatchSize"])
        check = f"size {each.name}"
        seen = f"{_text(made)}; {rate:g} emails a second in both streams need {_text(size)}"
        if made == size or (is_growing and made.concurrency >= size.concurrency):
            yield ok(check, f"{_text(made)}, for {rate:g} emails a second")
            continue
        if settings.mail_provider == "smtp" and made.concurrency < size.concurrency:
            yield ok(check, f"{_text(made)}, so many connections to the SMTP server")
            continue
        why = (
            "email goes out more slowly than it may"
            if made.concurrency * made.batch < size.concurrency * size.batch
            else "runs ask for permits in vain, and Lambda costs more"
        )
        todo = _which_setting(each.name, made, size, settings, rate)
        yield warning(check, f"{seen}: {why}", todo, "docs/configuration.md")


def _senders(settings: GenerateSettings, rate: float) -> Mapping[str, Size]:
    by_smtp = settings.mail_provider == "smtp"
    return senders(rate, immediate_share=settings.immediate_share, by_smtp=by_smtp)


def _which_setting(
    queue: str, made: Size, size: Size, settings: GenerateSettings, rate: float
) -> str:
    """`concurrency` where it says something else than the rate gives; the rate where SES's quota is
    not the one that was assumed."""
    if settings.emails_per_second:
        return (
            f"Set `{queue}` in the setting `concurrency` to {size.concurrency}, or leave it out; "
            "then deploy."
        )
    assumed = _senders(settings, QUOTA_SHARE * ASSUMED_QUOTA)[queue]
    if size == assumed:
        return f"Leave `{queue}` out of `concurrency`, and deploy."
    beside = "" if made == assumed else f", leave `{queue}` out of `concurrency`"
    return (
        f"Set `emails_per_second` to {max(1, int(rate))}{beside}, and deploy: without it functions "
        f"are made for a quota of {ASSUMED_QUOTA} a second."
    )


def _fits(check: str, facts: StageFacts, limit: int) -> Finding:
    """A warning, as at synthesis: SQS allows no maximum below two, so that an account of ten is
    too small for every stage, and whoever tries it sends email all the same."""
    mappings = facts.of(MAPPING)
    mapped = sum(size_of_mapping(each.made)["MaximumConcurrency"] for each in mappings)
    reserved = sum(each.made.get("ReservedConcurrentExecutions", 0) for each in facts.of(FUNCTION))
    seen = f"the account may run {limit}; queues start up to {mapped}, {reserved} are reserved"
    if mapped > limit - reserved:
        fits = LEAST * len(mappings) <= limit - reserved
        lower = ", or lower `concurrency` and deploy" if fits else ""
        todo = (
            f"Ask Lambda for more (`{_QUOTA} {max(1000, mapped + reserved)}`){lower}: functions "
            "are throttled under load until then."
        )
        return warning(check, seen, todo, f"{_LAMBDA}/lambda-concurrency.html")
    return ok(check, seen)


def _as_said(facts: StageFacts, limit: int) -> Finding:
    """The stage was told a limit, by which synthesis warns and an alarm fires."""
    check, page = "account concurrency", "docs/runbook/functions.md"
    name = f"gazette-{facts.stage}-concurrency-nearly-used-up"
    thresholds = [
        float(each.made["Threshold"])
        for each in facts.of(ALARM)
        if each.made.get("AlarmName") == name
    ]
    if not thresholds:
        return unseen(check, Unseen(f"the template has no alarm {name}: deploy this release"))
    said = round(thresholds[0] / NEARLY_ALL)
    if said == limit:
        return ok(check, f"{limit}, as `account_concurrency` says")
    seen = f"the account may run {limit}, and `account_concurrency` says {said}"
    if limit < said:
        todo = (
            f"Set `account_concurrency` to {limit} and deploy, or ask Lambda for more: "
            f"`{_QUOTA} {said}`."
        )
        return warning(check, f"{seen}: {name} fires too late or never", todo, page)
    todo = f"Set `account_concurrency` to {limit} and deploy."
    return warning(check, f"{seen}: {name} fires too early", todo, page)


def _is_sandbox(account: Looked) -> bool:
    return isinstance(account, Mapping) and not account.get("ProductionAccessEnabled")


def _text(size: Size) -> str:
    runs = "run" if size.batch == 1 else "runs"
    return f"{size.concurrency} at once of up to {size.batch} {runs}"
