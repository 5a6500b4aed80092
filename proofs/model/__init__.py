"""The delivery protocol, searched: every state within small bounds, by `make model`.

The runs are the domain's own and moved by its own `transition`. What the steps do around it
(delivery, sweep, feedback, batches and `steps/runs.py`) is written down here once more, a call
of a port at a time, and must be changed with them.

What is in a state: the runs of one schedule, two or three; up to three events; which runs have a
message; two workers, what each has read and which call it makes next; the emails that the
provider accepted, and which of them were reported; how far a stop has come.

What may happen, in any order: a message comes again until somebody has deleted it, or is
dead-lettered; a worker dies between any two calls; a claim's deadline passes before its call or
before its commit; the answer of a claim or of the provider is lost, accepted or not; the provider
refuses for now, for good, or the account; reports come at once, late, never, or again; the sweep
looks at any open run; the grace is over; events are stored and occurrences become due; a reader
leaves or mutes a category, a batch is cancelled or an event is retracted.

What must hold: G2, an email repeats none but one that a policy had given up before the claim
and that was not reported by then, and a run has one email, or two under `resend`; G1, what lies
behind a sent window is in an email, or an `assume_sent` excuses it by a claimant that died, was
late or got no answer; G3, what has not ended is seen by the sweep or waits for its successor, and
from every state some way leads to an end; nothing is sent that
a stop forbids whose acknowledgement came before the last look at it: the claim, or, of what a
reader wants, the look between claim and call. `promises.py` says so in code.

What is bounded: per search at most two deaths, two lost answers, one refusal, one dead letter, one
stop, and not all of them together: `__main__.py` has the combinations.

What is left out: clocks, so the settle lag, the deadline and the grace are taken at their word
(nothing is stamped behind `until`, no call is made between the look at the deadline and its
passing, a grace outlasts an invocation); the stale read of an index by the sweep, the proof that
reports come in, the canary and the longest wait for proof, so a policy may speak at any time after
the deadline; pacing and the circuit breaker; more than one stop; events that move, immediate runs,
the crash between row and message in ingest and fan-out, and fan-out itself; lateness (`TOO_LATE`),
five refusals; the lost answer of any write but the claim's, which is a death to the rest; rows and
tables: that a write is conditional is assumed here and tested in tests/contract.
"""
