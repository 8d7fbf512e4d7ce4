"""Proofs of the kernel model: a simulated kernel, positions, and records of real programs."""
