"""Studies: several models on several benchmarks, and what they share with sweeps: runs one after the other."""
