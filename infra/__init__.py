"""The CDK app: one code base, one set of stacks per stage."""
