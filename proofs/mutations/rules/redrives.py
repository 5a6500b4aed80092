"""The rules of redrives on the support page."""

from typing import Final

from proofs.mutations.mutation import Mutation

_KILLED = (
    "proofs/redrives/test_redrives.py"
    "::test_redrive_that_is_killed_loses_no_message_and_sends_each_email_once"
)
_PAGE = "tests/functions/test_support.py"

RULES: Final = (
    Mutation(
        "a redrive sends a message before it deletes it",
        "adapters/aws/dead_letters/transfer.py",
        '                    target_of(message["Body"]).send(message["Body"])\n'
        '                    sent.add(message["MD5OfBody"])\n'
        "                    waiting.delete(message)\n",
        "                    waiting.delete(message)\n"
        '                    target_of(message["Body"]).send(message["Body"])\n'
        '                    sent.add(message["MD5OfBody"])\n',
        _KILLED,
    ),
    Mutation(
        "a redrive does not move messages that arrived after its start",
        "adapters/aws/dead_letters/transfer.py",
        "                old = [message for message in messages if sent_at(message) <= started]\n",
        "                old = messages\n",
        _KILLED,
    ),
    Mutation(
        "an order to continue a redrive has the time limit of the first order",
        "bootstrap/console/redrive.py",
        "order.selection, order.before, now() + ORDER_FOR)",
        "order.selection, self._now_of_sqs(), now() + ORDER_FOR)",
        _KILLED,
    ),
    Mutation(
        "a redrive reports messages that another reader hides",
        "adapters/aws/dead_letters/transfer.py",
        "    unseen = max(0, (expected or 0) - moved - remaining)\n",
        "    unseen = 0\n",
        _KILLED,
    ),
    Mutation(
        "a redrive looks for more messages than the queue reported",
        "adapters/aws/dead_letters/transfer.py",
        "                if not (messages := _receive(hidden, is_last=is_last)):\n",
        "                if is_last or not (messages := _receive(hidden, is_last=is_last)):\n",
        f"{_PAGE}::test_redrive_moves_more_messages_than_the_queue_reported",
    ),
    Mutation(
        "a redrive does not wait for messages after the reported number",
        "adapters/aws/dead_letters/transfer.py",
        "hidden.receive(waits=not is_last)",
        "hidden.receive()",
        f"{_PAGE}::test_redrive_of_all_queues_does_not_wait_for_further_messages",
    ),
    Mutation(
        "an expired order moves no message",
        "bootstrap/console/redrive.py",
        "            if order.expires_at <= now():\n",
        "            if order.expires_at <= order.before:\n",
        f"{_PAGE}::test_expired_order_moves_nothing_and_shows_the_messages_again",
    ),
    Mutation(
        "a plan states that it did not look at all messages",
        "bootstrap/console/redrive.py",
        "            unread = 0 if is_found else max(0, read.waiting - looked_at)\n",
        "            unread = 0\n",
        f"{_PAGE}::test_plan_of_a_message_that_was_not_looked_at_does_not_forecast",
    ),
)
