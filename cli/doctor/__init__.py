"""`gazette doctor`: whether a stage can send, receive what becomes of it, and be restored."""
