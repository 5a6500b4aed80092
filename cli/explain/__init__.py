"""`gazette explain`: explain why a reader got an email or did not get one."""
