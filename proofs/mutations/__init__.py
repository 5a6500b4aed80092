"""Rules taken out of the code, one at a time: the test of each must fail. `make mutations`."""
