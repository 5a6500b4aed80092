"""A warning if the functions together may exceed the account's concurrency limit."""

from aws_cdk import Annotations
from constructs import Construct

from gazette_cdk.concurrency import LEAST
from gazette_cdk.stage import Stage


def compare_concurrency(scope: Construct, stage: Stage) -> None:
    """Warn if the functions may exceed the account's concurrency limit. The warning names the
    settings to lower.

    Such a stage works, but its functions may be throttled.
    """
    each = {name: size.concurrency for name, size in stage.sizes.items()}
    most = stage.account_concurrency
    if sum(each.values()) <= most:
        return
    higher = ", ".join(f"{name} {number}" for name, number in each.items() if number > LEAST)
    Annotations.of(scope).add_warning_v2(
        "gazette:concurrency",
        f"The functions of stage {stage.name!r} may use a concurrency of {sum(each.values())}, but "
        f"the account has {most} (account_concurrency). Request a higher quota from AWS "
        "(Service Quotas, Lambda, Concurrent executions), or lower these in the setting "
        f"concurrency, down to {LEAST}: {higher}. For preferences, lower requests_per_second. "
        "Until then readers and immediate email may be throttled while digests go out.",
    )
