"""Kill a worker at every call and check that no event is lost or duplicated: `make prove`."""
