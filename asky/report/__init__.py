"""Answers as HTML reports. Rule: every string becomes HTML in `markup`, and nowhere else."""
