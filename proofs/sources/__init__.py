"""`make sources`: digests and their items while a recommendation service misbehaves."""
