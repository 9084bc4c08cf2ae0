"""Tests of the experiments in `examples`."""
