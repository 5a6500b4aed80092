"""A discrete-event simulation of queues, workers, the email provider and the content service.

The project's own code makes the decisions, such as when to grant a permit, requeue a run, or skip a
late digest. The engine adds virtual time, queues and the durations of work.
"""
