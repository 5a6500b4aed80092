"""Workers of the deployed stacks, killed at random while digests go out: `make chaos`."""
