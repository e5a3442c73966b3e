"""Text on a terminal or a pipe. Rule: nothing that could drive a terminal is written unescaped."""
