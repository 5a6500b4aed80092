"""`gazette batch`: list, watch and cancel batches."""
