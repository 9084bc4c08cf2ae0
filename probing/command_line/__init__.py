"""The commands of `python -m probing`, one module each."""
