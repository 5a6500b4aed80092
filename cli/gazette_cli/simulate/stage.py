"""The inputs of a simulation, read from a stage of the project."""

from collections.abc import Mapping
from datetime import date

from gazette.domain.delivery.pace import PacePlan
from gazette.domain.scheduling.quiet import QuietHours

from gazette_cli.cost.command import digests_of
from gazette_cli.cost.usage import Usage
from gazette_cli.shared.console import NotPossible
from gazette_cli.shared.stages import stage_of
from gazette_cli.simulate.inputs import Installation


def installation_of(name: str, overrides: Mapping[str, object]) -> Installation:
    """Return the settings of a stage, with optional overrides. Raises NotPossible."""
    stage = stage_of(name, overrides=overrides)
    if stage.mail_provider != "ses":
        raise NotPossible(
            f"Stage {name!r} sends email with {stage.mail_provider}, but the simulation supports "
            "only SES. To simulate SES, add --set mail_provider=ses."
        )
    return Installation(
        plan=PacePlan(
            rate=stage.emails_per_second or None,
            ramp_from=stage.ramp_from,
            warmup_from=date.fromisoformat(stage.warmup_from) if stage.warmup_from else None,
            warmup_daily=stage.warmup_daily,
        ),
        immediate_share=stage.immediate_share,
        shards=stage.shards,
        spread=stage.spread,
        max_lateness=stage.max_lateness,
        collapse=stage.collapse,
        hold=stage.settle_lag + stage.clock_skew,
        worth=_worth(stage.digest_worth),
        quiet_hours=QuietHours.of(stage.quiet_hours) if stage.quiet_hours else None,
        limited=bool(stage.immediate_limit),
        sizes=stage.sizes,
        memory=stage.sending_memory,
        reports=1 + stage.report_deliveries + stage.track_clicks + stage.track_opens,
    )


def _worth(setting: Mapping[str, float]) -> tuple[float, int] | None:
    return (setting["score"], int(setting["days"])) if setting else None


def usage_of(name: str, overrides: Mapping[str, object], *, plan: str) -> Usage:
    """Return only those settings of a stage that affect the cost. Raises NotPossible."""
    stage = stage_of(name, overrides=overrides)
    return Usage(
        readers=0,
        plan=plan,
        digests_sent=digests_of(stage),
        generate_memory=stage.sending_memory,
        reports_together=stage.sizes["feedback"].batch,
        limited=bool(stage.immediate_limit),
        report_deliveries=stage.report_deliveries,
        category_hold=stage.category_hold,
        dashboard=stage.dashboard,
        restorable=tuple(stage.restorable) if stage.retain else (),
        run_retention_days=stage.run_retention_days,
    )
