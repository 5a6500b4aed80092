"""`gazette dlq` and `gazette quarantine`: messages that a function could not process."""
