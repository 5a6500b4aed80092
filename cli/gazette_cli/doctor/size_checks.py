"""Compare the concurrency of functions with the SES sending rate and the account's limit.

`gazette_cdk.concurrency` computes the concurrency from the settings of the stage.
"""

from collections.abc import Iterator, Mapping

from gazette.domain.delivery.pace import ASSUMED_QUOTA, MAX_RATE, QUOTA_SHARE
from gazette.settings.delivery import GenerateSettings

from gazette_cdk.concurrency import LEAST, NEARLY_ALL, Size, senders
from gazette_cli.doctor.findings import Finding, Unseen, ok, unseen, warning
from gazette_cli.doctor.stage_checks import size_of_mapping
from gazette_cli.doctor.stage_facts import ALARM, FUNCTION, MAPPING, Looked, StageFacts

_LAMBDA = "https://docs.aws.amazon.com/lambda/latest/dg"
_QUOTA = (
    "aws service-quotas request-service-quota-increase --service-code lambda "
    "--quota-code L-B99A9384 --desired-value"
)
"""The AWS CLI command that requests an increase of the quota "Concurrent executions".

https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
"""


def check_sizes(
    facts: StageFacts, settings: GenerateSettings, account: Looked
) -> Iterator[Finding]:
    """Check the account's concurrency limit, and the concurrency of each queue of runs.

    `account` is the response of SES GetAccount, or None for an SMTP server.
    """
    yield from check_limit(facts)
    rate = rate_of(settings, account)
    if rate:
        yield from check_senders(facts, settings, rate, is_growing=_is_sandbox(account))


def check_limit(facts: StageFacts) -> Iterator[Finding]:
    """Compare the account's Lambda limit with the concurrency of the stage and with
    `account_concurrency`.
    """
    check = "lambda concurrency"
    if facts.limits is None or isinstance(facts.limits, Unseen):
        yield unseen(check, facts.limits or Unseen("Lambda returned no data for the account"))
        return
    limit = int(facts.limits["AccountLimit"]["ConcurrentExecutions"])
    yield _fits(check, facts, limit)
    if not isinstance(facts.resources, Unseen):
        yield _as_configured(facts, limit)


def rate_of(settings: GenerateSettings, account: Looked) -> float:
    """Return the combined sending rate of both streams in emails per second, or 0 if the rate is
    unknown.
    """
    if settings.emails_per_second or account is None or isinstance(account, Unseen):
        return settings.emails_per_second
    return min(MAX_RATE, QUOTA_SHARE * float(account.get("SendQuota", {}).get("MaxSendRate", 0)))


def check_senders(
    facts: StageFacts, settings: GenerateSettings, rate: float, *, is_growing: bool
) -> Iterator[Finding]:
    """Compare the deployed concurrency of each queue of runs with the concurrency that the sending
    rate requires.

    `is_growing` is True in the sandbox, where a larger concurrency is allowed because the quota is
    low. A smaller concurrency is correct for an SMTP server that limits connections, because email
    then waits in SQS.
    """
    needed = _senders(settings, rate)
    for each in facts.of(MAPPING):
        if each.name not in needed:
            continue
        deployed, size = size_of_mapping(each.template), needed[each.name]
        actual = Size(deployed["MaximumConcurrency"], deployed["BatchSize"])
        check = f"size {each.name}"
        seen = f"{_text(actual)}; {rate:g} emails per second in both streams need {_text(size)}"
        if actual == size or (is_growing and actual.concurrency >= size.concurrency):
            yield ok(check, f"{_text(actual)}, for {rate:g} emails per second")
            continue
        if settings.mail_provider == "smtp" and actual.concurrency < size.concurrency:
            yield ok(check, f"{_text(actual)}, the limit of connections to the SMTP server")
            continue
        why = (
            "email is sent more slowly than possible"
            if actual.concurrency * actual.batch < size.concurrency * size.batch
            else "runs wait for permits, and Lambda costs more"
        )
        todo = _which_setting(each.name, actual, size, settings, rate)
        yield warning(check, f"{seen}: {why}", todo, "docs/configuration.md")


def _senders(settings: GenerateSettings, rate: float) -> Mapping[str, Size]:
    by_smtp = settings.mail_provider == "smtp"
    sizes = senders(rate, immediate_share=settings.immediate_share, by_smtp=by_smtp)
    return {name: Size(size.concurrency, size.batch) for name, size in sizes.items()}


def _which_setting(
    queue: str, actual: Size, size: Size, settings: GenerateSettings, rate: float
) -> str:
    """Return a sentence that names the setting to change.

    The sentence names `concurrency` if this setting overrides the required concurrency. The
    sentence names `emails_per_second` if this setting is missing and the SES quota differs from the
    assumed quota.
    """
    if settings.emails_per_second:
        return (
            f"In the `concurrency` setting, set `{queue}` to {size.concurrency} or remove "
            f"`{queue}`, then deploy."
        )
    assumed = _senders(settings, QUOTA_SHARE * ASSUMED_QUOTA)[queue]
    if size == assumed:
        return f"Remove `{queue}` from `concurrency`, and deploy."
    remove = "" if actual == assumed else f", remove `{queue}` from `concurrency`"
    return (
        f"Set `emails_per_second` to {max(1, int(rate))}{remove}, and deploy. If it is not set, "
        f"functions are sized for a quota of {ASSUMED_QUOTA} emails per second."
    )


def _fits(check: str, facts: StageFacts, limit: int) -> Finding:
    """Compare the account's concurrency limit with the concurrency that the stage needs.

    The finding is only a warning. The minimum concurrency of a queue is two, so a limit of ten is
    too low for any stage, but such an account can still send email.
    """
    mappings = facts.of(MAPPING)
    mapped = sum(size_of_mapping(each.template)["MaximumConcurrency"] for each in mappings)
    reserved = sum(
        each.template.get("ReservedConcurrentExecutions", 0) for each in facts.of(FUNCTION)
    )
    seen = (
        f"the account's limit is {limit} invocations; queues use up to {mapped}, and {reserved} "
        "are reserved"
    )
    if mapped > limit - reserved:
        fits = LEAST * len(mappings) <= limit - reserved
        lower = ", or lower `concurrency` and deploy" if fits else ""
        todo = (
            f"Request a higher limit (`{_QUOTA} {max(1000, mapped + reserved)}`){lower}. Until "
            "then, functions are throttled under load."
        )
        return warning(check, seen, todo, f"{_LAMBDA}/lambda-concurrency.html")
    return ok(check, seen)


def _as_configured(facts: StageFacts, limit: int) -> Finding:
    """Compare the account's concurrency limit with the `account_concurrency` setting, which
    synthesis and an alarm use.
    """
    check, page = "account concurrency", "docs/runbook/functions.md"
    name = f"gazette-{facts.stage}-concurrency-nearly-used-up"
    thresholds = [
        float(each.template["Threshold"])
        for each in facts.of(ALARM)
        if each.template.get("AlarmName") == name
    ]
    if not thresholds:
        return unseen(check, Unseen(f"the template has no alarm {name}; deploy this release"))
    configured = round(thresholds[0] / NEARLY_ALL)
    if configured == limit:
        return ok(check, f"{limit}, equal to `account_concurrency`")
    seen = f"the account's limit is {limit}, but `account_concurrency` is {configured}"
    if limit < configured:
        todo = (
            f"Set `account_concurrency` to {limit} and deploy, or request a higher limit: "
            f"`{_QUOTA} {configured}`."
        )
        return warning(check, f"{seen}: {name} fires too late or never", todo, page)
    todo = f"Set `account_concurrency` to {limit} and deploy."
    return warning(check, f"{seen}: {name} fires too early", todo, page)


def _is_sandbox(account: Looked) -> bool:
    return isinstance(account, Mapping) and not account.get("ProductionAccessEnabled")


def _text(size: Size) -> str:
    runs = "run" if size.batch == 1 else "runs"
    return f"{size.concurrency} concurrent invocations with up to {size.batch} {runs} each"
