"""Fan-out: one message for each due run; and the quota that limits the sending rate."""
