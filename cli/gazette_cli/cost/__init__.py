"""`gazette cost`: estimate the AWS cost of a stage."""
