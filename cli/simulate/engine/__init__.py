"""A discrete-event simulation of queues, workers, the email provider and the content service.

The project's own code makes the decisions: `take`, `outlook` and `with_quota` of the pace, the
steps that postpone and requeue, `stagger`, `pause_after`, and the check for late digests. The
engine adds virtual time, queues and the durations of work.
"""
