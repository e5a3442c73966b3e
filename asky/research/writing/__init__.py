"""Writing with a model: its prompts, its tool calls and its replies. Rule: only the copy that is sent is shortened."""
