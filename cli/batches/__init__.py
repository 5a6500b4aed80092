"""`gazette batch`: list, watch and cancel the digests of a slot."""
