"""The processing of delivery events: recording, counts by category, and suppression."""
