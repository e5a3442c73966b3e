"""Rich Text Format (Microsoft, Rich Text Format Specification 1.9.1): what a word processor shows of it."""
