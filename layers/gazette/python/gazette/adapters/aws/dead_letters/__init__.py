"""The dead-letter queues of a stage in SQS: reading and redriving their messages."""
