"""A rollout of template versions while digests go out. No email may be mixed, lost or doubled."""
