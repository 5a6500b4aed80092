"""Two streams that share a rate: digests of a slot, and immediate email.

`python -m proofs.pacing` simulates the workers of `generate` with the engine of `gazette simulate`,
message by message. It uses the real pacing, and the stack's sizes of the mappings. The durations of
calls and rendering are assumptions (`Times`).
"""
