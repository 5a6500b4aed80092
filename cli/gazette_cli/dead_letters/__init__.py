"""`gazette dlq` and `gazette quarantine`: messages that functions could not process."""
