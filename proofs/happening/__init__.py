"""A search of how the bodies of one happening share a row, through every state within small bounds.

A happening is a comment, and a mention in it. The comment comes through a follow, as a body of the
activity. The mention is addressed to the reader, names the activity in `part_of`, and has a pointer
at its own id. `make model` runs the search. The content and the place of the row come from the
domain's own `with_body`, `without_body`, `settle` and `settle_in_place`, the schedule's states from
its own `armed`, `leaving` and `idle`. The model repeats the steps around them (routing, retraction,
rerouting, fan-out, delivery) one call of a port at a time, and must change with them.

A state contains the row, the pointer, the daily schedule, the open runs, the reader's choice and
follow, the messages, and the workers with the data they have read and their next call. Messages are
the arrival of each body, the retraction of each, a mute of the mention's category, and the end of
the follow. Two workers process them in any order and at the same time. A worker dies before any of
its calls, and its message is delivered again; a message is delivered twice. In between, fan-out
removes the schedule from the due index, a run of each place reads, claims and sends, and the
provider rejects an email for now.

These promises must hold. No happening is in two emails. Once all messages are processed, a body
that its reader wants was sent or waits; the row shows the strongest wanted body, and waits where
the soonest one would; and no row waits under an idle schedule or in a thread without a run. No
email that is claimed after a stop was acknowledged shows the stopped body. An email that is claimed
after the arrival of a stronger body was acknowledged does not show the weaker one. A critical body
is sent by itself.

The model leaves out the amendment of a body, more than two bodies, expiry, exclusion, holds, and
readers without a profile; unknown outcomes, which `proofs.model` searches; late writes (rule 14)
and the steps of arming, which `proofs.arming` searches: storing arms the schedule in one call.
"""
