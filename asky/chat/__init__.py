"""The tool-calling loop and what it needs. Rule: the loop knows tools by their specification only."""
