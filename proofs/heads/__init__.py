"""A search of the stored heads of a chain, through every state within small bounds.

`make model` runs it last. The runs, `transition`, `head_for` and `back_to_end` belong to the
domain; `gives_way` and `settle_older` belong to delivery. The model repeats the steps around them
for one thread, one call of a port at a time: creators of runs, which may stop between reading the
chain and storing a run, deliverers, the policy, and delivery events. A page holds one run, so a
head is stored as soon as one run has ended unsent.

These things happen in any order. Events are stored. A message is redelivered. A provider rejects,
accepts without an answer, or rejects what it accepted. Delivery events arrive late. Hours and a day
pass. A creator never sleeps longer than a function's timeout, except strays, which store a run
under the sequence of an old event while no other worker is active.

No claim may show an event that a sent run is known to have had. No event may be in three emails.
When all runs have ended, each event was in an email, was given up, or was in an attempt that was
rejected for good. An end must be reachable from every state.

The model leaves out more than two active workers, the settle lag, the collapse window, moves and
stops. It leaves out digests, whose sequences have no gaps, and the subjects of `proofs.model`.
"""
