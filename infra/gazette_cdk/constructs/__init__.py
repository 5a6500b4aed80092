"""The CDK constructs from which the stacks are built."""
