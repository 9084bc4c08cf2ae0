"""Random faults on real processes: no run may be lost, repeated or measured wrongly."""
