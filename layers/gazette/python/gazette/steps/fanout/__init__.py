"""Fan-out, which queues one message for each due run, and the quota for the sending rate."""
