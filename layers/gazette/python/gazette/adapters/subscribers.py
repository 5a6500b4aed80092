"""Subscribers in DynamoDB."""

from gazette.adapters.tables import ConditionFailed, SubscriberRow, bind, translated
from gazette.domain.model import Subscriber, SubscriberStatus


class DynamoSubscribers:
    """The port `Subscribers` on the table `subscribers`."""

    def __init__(self, table_name: str) -> None:
        bind(SubscriberRow, table_name)

    def get(self, user_id: str) -> Subscriber | None:
        """One strongly consistent GetItem."""
        with translated():
            try:
                return _subscriber(SubscriberRow.get(user_id, consistent_read=True))
            except SubscriberRow.DoesNotExist:
                return None

    def save(self, subscriber: Subscriber) -> Subscriber:
        """One conditional UpdateItem; one GetItem more where a newer profile is there."""
        row = SubscriberRow(subscriber.user_id)
        try:
            with translated():
                row.update(
                    actions=[
                        SubscriberRow.email.set(subscriber.email),
                        SubscriberRow.name.set(subscriber.name),
                        SubscriberRow.locale.set(subscriber.locale),
                        SubscriberRow.time_zone.set(subscriber.time_zone),
                        SubscriberRow.changed_at.set(subscriber.changed_at),
                        SubscriberRow.status.set(SubscriberRow.status | subscriber.status.value),
                    ],
                    condition=SubscriberRow.user_id.does_not_exist()
                    | (SubscriberRow.changed_at <= subscriber.changed_at),
                )
        except ConditionFailed:
            with translated():
                return _subscriber(SubscriberRow.get(subscriber.user_id, consistent_read=True))
        return _subscriber(row)

    def set_status(self, user_id: str, status: SubscriberStatus) -> bool:
        """One conditional UpdateItem."""
        try:
            with translated():
                SubscriberRow(user_id).update(
                    actions=[SubscriberRow.status.set(status.value)],
                    condition=SubscriberRow.user_id.exists(),
                )
        except ConditionFailed:
            return False
        return True


def _subscriber(row: SubscriberRow) -> Subscriber:
    return Subscriber(
        user_id=row.user_id,
        email=row.email,
        name=row.name,
        locale=row.locale,
        time_zone=row.time_zone,
        changed_at=row.changed_at,
        status=SubscriberStatus(row.status),
    )
