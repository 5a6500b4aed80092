"""Discrete events: queues, workers, the provider and the service behind, in virtual time.

What decides is the project's own code: `take`, `outlook` and `with_quota` of the pace, the steps
that postpone and requeue, `stagger`, `pause_after`, and whether a digest is too late. Here is only
what surrounds them: time, queues, and how long work takes.
"""
