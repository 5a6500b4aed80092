"""The composition of event rerouting in functions that send email, which few processes need."""

from functools import partial
from typing import TYPE_CHECKING

from gazette.adapters.dynamodb.control.batches import DynamoBatches
from gazette.bootstrap.parts.routing import stored_events, with_tables
from gazette.domain.ports.ledgers import Runs, Schedules
from gazette.domain.ports.stores import Subscribers
from gazette.domain.templates.ports import VersionsInForce
from gazette.settings.delivery import SendingSettings
from gazette.steps.delivery.context import LeaveOutBodies, RouteAgain
from gazette.steps.routing.happening import leave_out_bodies
from gazette.steps.routing.reroute import route_again

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


def rerouting(
    settings: SendingSettings,
    sqs: "SQSClient",
    *,
    in_force: VersionsInForce,
    subscribers: Subscribers,
    schedules: Schedules,
    runs: Runs,
    batches: DynamoBatches,
) -> tuple[RouteAgain, LeaveOutBodies]:
    """Return the functions that reroute events and remove bodies, using the tables of the sending
    function.

    Announces the shards, because rerouting may arm a schedule.
    """
    batches.announce(settings.shards)
    context = with_tables(
        settings,
        sqs,
        in_force=in_force,
        subscribers=subscribers,
        events=stored_events(settings),
        schedules=schedules,
        runs=runs,
    )
    return partial(route_again, context=context), partial(leave_out_bodies, context=context)
