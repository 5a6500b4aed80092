"""One message for each subscriber who is due, and the rate at which they may go."""
