"""Texts with times: subtitles and transcripts."""
