"""What becomes of two streams that share a rate: digests of a slot beside immediate email.

`python -m proofs.pacing` simulates the workers of `generate` in discrete events, in no real time,
with the project's own pacing: `take`, the steps that wait and requeue, and the sizes that the stack
gives the mappings. How long calls and rendering take is assumed (`Times`).
"""
