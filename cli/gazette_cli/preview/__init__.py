"""`gazette preview` and `gazette send-test`: render and send sample emails."""
