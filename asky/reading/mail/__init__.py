"""Mail: messages with their parts and attachments, and mailboxes."""
