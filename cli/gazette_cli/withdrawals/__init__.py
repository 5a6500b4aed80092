"""`gazette withdraw`: leave the events of an actor or an entity out of all emails."""
