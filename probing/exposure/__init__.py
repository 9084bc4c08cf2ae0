"""Exposure: how often a corpus states each fact of a benchmark."""
