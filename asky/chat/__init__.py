"""The run of a question: its plan, prompt and custom tools. Rule: models and the web are known by their ports only."""
