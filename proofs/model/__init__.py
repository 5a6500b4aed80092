"""A search of the delivery protocol through every state within small bounds: `make model`.

The runs belong to the domain and move by its own `transition`. The model repeats the steps around
it (delivery, sweep, feedback, batches and `steps/runs.py`) one call of a port at a time, and must
change with them.

A state contains two or three runs of one schedule, up to three events, the runs with a queued
message, two workers with the data they have read and their next call, the emails that the provider
accepted, the emails that were reported, and the progress of a stop.

These things happen in any order. A message is redelivered until a worker deletes it, or becomes a
dead letter. A worker dies between any two calls. A claim's deadline passes before its call or
before its commit. The answer to a claim or from the provider is lost, accepted or not. The provider
rejects for now, for good, or the whole account. Reports arrive immediately, late, never, or twice.
The sweep examines any open run. The grace period ends. Events are stored and occurrences become
due. A reader unsubscribes or mutes a category, a batch is cancelled, or an event is retracted.

G2 must hold: an email repeats only the events of an email that a policy gave up before the claim,
and that was not reported by then. A run has one email, or two under `resend`. G1 must hold: an
event behind a sent window is in an email, or `assume_sent` excuses its loss because a claimant
died, was late or got no answer. G3 must hold: the sweep sees each open run or a successor takes it
over, and an end is reachable from every state. No email is sent that a stop forbids, if the stop
was acknowledged before the last chance to see it. That chance is the claim or, for a reader's stop,
the look between claim and call. `promises.py` states these promises in code.

Each search has at most two deaths, two lost answers, one rejection, one dead letter and one stop,
and does not combine them all. `__main__.py` lists the combinations.

The model leaves out clocks, so the settle lag, the deadline and the grace period always hold. No
event is stamped behind `until`, no call follows an expired deadline, and the grace period outlasts
an invocation. It leaves out the sweep's stale index reads, the proof that reports arrive, the
canary and the longest wait for proof, so a policy may decide at any time after the deadline. It
also leaves out pacing and the circuit breaker, a second stop, moved events, immediate runs, crashes
between row and message in ingest and fan-out, fan-out itself, lateness (`TOO_LATE`) and five
rejections. A lost answer to any write but the claim equals a death. The model assumes conditional
writes; tests/contract tests them.
"""
