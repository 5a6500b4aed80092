"""What becomes of two streams that share a rate: digests of a slot beside immediate email.

`python -m proofs.pacing` simulates the workers of `generate` with the engine of `gazette simulate`,
message by message: the project's own pacing, and the sizes that the stack gives the mappings. How
long calls and rendering take is assumed (`Times`).
"""
