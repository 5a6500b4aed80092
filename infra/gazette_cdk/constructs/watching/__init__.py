"""The dashboard, and all alarms except those of queues that must stay empty."""
