"""A warning where the functions together may take more than the account has."""

from aws_cdk import Annotations
from constructs import Construct
from gazette.settings.concurrency import LEAST

from infra.stage import Stage


def compare_concurrency(scope: Construct, stage: Stage) -> None:
    """Warn, and say what to lower. Deployed, it works, but functions take turns being throttled."""
    each = {name: size.concurrency for name, size in stage.sizes.items()}
    most = stage.account_concurrency
    if sum(each.values()) <= most:
        return
    higher = ", ".join(f"{name} {number}" for name, number in each.items() if number > LEAST)
    Annotations.of(scope).add_warning_v2(
        "gazette:concurrency",
        f"The functions of stage {stage.name!r} may run {sum(each.values())} times at once, and "
        f"those of the account {most} times (account_concurrency). Ask AWS for a higher quota "
        "(Service Quotas, Lambda, Concurrent executions), or lower some in the setting "
        f"concurrency, down to {LEAST}: {higher}. Of preferences, lower requests_per_second. Until "
        "then readers and immediate email may be throttled while digests go out.",
    )
