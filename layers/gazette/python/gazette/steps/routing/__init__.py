"""The routing of events to the schedule or immediate run that sends them."""
