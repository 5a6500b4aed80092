"""`gazette batch`: watch and cancel the digests of a slot."""
