"""The clock, which starts fan-out and the sweep."""

from aws_cdk import Duration
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_scheduler_targets as targets
from aws_cdk import aws_sqs as sqs
from aws_cdk.aws_lambda_destinations import SqsDestination
from constructs import Construct

from gazette_cdk.constructs.step import StepConstruct
from gazette_cdk.stage import Stage


def start_clocks(
    scope: Construct,
    stage: Stage,
    *,
    fanout: StepConstruct,
    sweep: StepConstruct,
    undelivered: sqs.IQueue,
) -> None:
    """Schedule fan-out every ten minutes, at the start of a slot, and the sweep every five minutes.

    Each tick contains its scheduled time. EventBridge Scheduler invokes the functions
    asynchronously. Ticks that a function does not receive or cannot process therefore go to the
    same queue, `undelivered`.
    https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-context-attributes.html
    """
    for name, step, minutes in (("Tick", fanout, "0/10"), ("SweepTick", sweep, "3/5")):
        step.live.configure_async_invoke(on_failure=SqsDestination(undelivered))
        scheduler.Schedule(
            scope,
            name,
            schedule=scheduler.ScheduleExpression.cron(minute=minutes),
            enabled=stage.ticks,
            target=targets.LambdaInvoke(
                step.live,
                input=scheduler.ScheduleTargetInput.from_object(
                    {"time": scheduler.ContextAttribute.scheduled_time}
                ),
                max_event_age=Duration.hours(24),
                dead_letter_queue=undelivered,
            ),
        )
