"""`make chaos`, which kills workers of the deployed stacks at random while digests go out."""
