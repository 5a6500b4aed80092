"""The tables on moto, made from the same PynamoDB models that the adapters use."""

from gazette.adapters.tables import EventRow, RunRow, ScheduleRow, SubscriberRow, bind

NAMES = {
    SubscriberRow: "subscribers",
    ScheduleRow: "schedules",
    EventRow: "events",
    RunRow: "runs",
}


def create_tables() -> None:
    """Create every table in the account that moto keeps for this test."""
    for model, name in NAMES.items():
        bind(model, name)
        model.create_table(billing_mode="PAY_PER_REQUEST")
