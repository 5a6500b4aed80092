"""A search of how schedules enter and leave the due index, through every state within small bounds.

`make model` runs it after the delivery protocol. The rows belong to the domain and are written by
its own `armed`, `leaving`, `idle`, `advanced`, `renumbered` and `withdrawn`; the runs move by its
own `transition`. The model repeats the steps around them (ingest, moves, fan-out, sunset) one call
of a port at a time, and must change with them.

A state contains the row of one schedule, the occurrence under which the index shows it, its runs,
and up to two events, each here, under another schedule, or not stored. It also contains the workers
with the data they have read and their next call. They are ingest, movers, fan-out, delivery, and
those that create the row, withdraw it or arm it for a reader who is new, becomes dormant or
returns.

These things happen in any order. Occurrences come due while workers are active, up to `hasty`. The
index follows the row with any delay. A worker dies between any two calls, and its message is
redelivered. A message is delivered twice, also concurrently. The write of an event takes longer
than the settle lag. The provider rejects a run, or its claimant dies before the call. The other
schedule sends its events.

G2 must hold: no event is in two emails. G1 must hold: once all workers are done, no event waits
under a row that the index lacks or that no tick finds. An end must be reachable from every state.
There all events are sent and the row has left the index, so that empty runs stop. An event is sent
at the first occurrence after all workers are done, unless the provider rejected it or its claimant
died; with two hasty occurrences that is at most two later than the one that was next when its
worker finished. Rule 18 must hold: an occurrence has one run that may send, and none once fan-out
has made the schedule idle at it. No schedule of a dormant reader stays in the index. A schedule
with a content source leaves it for no other reason, and no run starts for an occurrence that it
passed. `promises.py` and the faults that the steps record state these promises in code.

`__main__.py` lists the combinations that are searched. Occurrences after the hasty ones come due
once all workers are done. A change of preferences, a message and a reader's activity occur in the
hasty time.

The model leaves out the delivery protocol, which `proofs.model` searches; a claim is one write
whose answer is never lost. It leaves out the queue of runs, because the sweep finds runs without a
message, and the other schedule, which moves and sends as in rule 15. It also leaves out erasure,
redrives and changes of the hour; expiry, holds, mutes and retractions; the audit (A7) and dormancy
by date (A9); messages that become dead letters between store and arm; lateness within an
occurrence; and readers who become dormant during fan-out. tests/contract tests the conditions of
the tables.
"""
