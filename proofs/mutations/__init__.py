"""`make mutations`: remove the rules from the code, one at a time, and check that a test fails."""
