"""All alarms but those of queues that must stay empty, and the dashboard."""
