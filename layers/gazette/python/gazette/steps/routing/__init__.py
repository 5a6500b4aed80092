"""The routing of events to schedules or immediate runs."""
