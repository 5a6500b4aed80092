"""How schedules enter and leave the due index, searched: every state within small bounds.

`make model` runs it after the delivery protocol. The rows are the domain's own and written by its
own `armed`, `leaving`, `idle`, `advanced`, `renumbered` and `withdrawn`, the runs by its own
`transition`. What the steps do around them (ingest, moves, fan-out, sunset) is written down here
once more, a call of a port at a time, and must be changed with them.

What is in a state: the row of one schedule and the occurrence under which the index shows it; its
runs; up to two events, each here, under another schedule, or not stored; and who works on them,
what each has read and which call it makes next: ingest, movers, fan-out, delivery, and whoever
creates the row, withdraws it or arms it for a reader who is new, becomes dormant and comes back.

What may happen, in any order: occurrences come while anybody is at work, as far as they are
`hasty`; the index follows the row as late as it likes; a worker dies between any two calls, and its
message comes again; a message comes twice, also at once; the write of an event takes longer than
the settle lag; the provider refuses a run, or its claimant dies before the call; the
other schedule sends what is under it.

What must hold: G2, no event is in two emails; G1, nothing waits under a row that is not in the
index, or that no tick finds, when nobody is at work; from every state some way leads to an end, at
which all is sent and the row has left the index, so that no empty run comes for ever; an event is
sent at the first occurrence that comes after everybody has done their work, so with two hasty ones
at the latest two after the one that was next when its worker had finished, unless the provider
refused it or its claimant died; rule 18, an occurrence has one run that may send, and none once
fan-out has taken the row out at it; no schedule of a dormant reader stays in the index. One that
asks a content source never leaves it otherwise, and no run starts for an occurrence that it passed.
`promises.py` and the faults that steps note say so in code.

What is bounded: `__main__.py` has the combinations. Occurrences behind the hasty ones come when
everybody has done their work. A change of mind, a message and a sign of life come in the hasty
time.

What is left out: the protocol of delivery, which `proofs.model` searches, so a claim is one write
and its answer is not lost; the queue of runs, because the sweep finds what has no message; the
other schedule, which moves and sends as rule 15 says; erasure, redrives and changes of the hour;
expiry, holds, mutes and retractions; the audit (A7), dormancy by the date (A9), and a message that
ends in a dead-letter queue between store and arm; lateness within an occurrence; a reader who
becomes dormant in fan-out's own hands; rows and tables, whose conditions tests/contract tests.
"""
