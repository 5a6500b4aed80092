"""Withdrawals, by which an operator removes an actor or an entity from all later emails."""
