"""The client for chat-completions endpoints. Rule: differences between dialects are handled here and nowhere above."""
