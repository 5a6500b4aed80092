"""`make sources`, which sends digests while a recommendation service misbehaves."""
