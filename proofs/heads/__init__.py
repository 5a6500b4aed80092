"""Stored heads of a chain, searched: every state within small bounds.

`make model` runs it last. The runs are the domain's own, and so are `transition`, `head_for` and
`back_to_end`; `gives_way` and `settle_older` are those of delivery. Around them is written down
once more what the steps do for one thread, a call of a port at a time: creators of runs, which may
stop between reading the chain and storing a run, deliverers, the policy, and delivery events. A
page is one run, so a head is stored as soon as one run has ended unsent.

What may happen, in any order: events are stored; a message comes again; a provider refuses, accepts
without an answer, or refuses what it accepts; delivery events come late; hours and a day pass. A
creator never sleeps for longer than a function lasts, but for strays, which store a run under the
sequence of an old event while nobody else is at work.

What must hold: no claim shows an event that a sent run is known to have had; no event is in three
emails; when everything has ended, each event was in an email, was given up, or was in an attempt
that was refused for good; from every state some way leads to an end.

What is left out: more than two at work at once, the settle lag, the collapse window, moves, stops,
digests (whose sequences have no gaps, so nobody stores one behind another), and what `proofs.model`
searches.
"""
