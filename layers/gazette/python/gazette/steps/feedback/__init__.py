"""The processing of delivery events: recording, counting by category, and suppression."""
