"""Answers and research as reports. Rule: every string becomes HTML in `markup`, and nowhere else."""
