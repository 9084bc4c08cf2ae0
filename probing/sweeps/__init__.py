"""Sweeps: one benchmark, and the checkpoints of one training after each other."""
