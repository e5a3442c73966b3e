"""Files within files: attachments and other parts, read by the reader of their own format."""
