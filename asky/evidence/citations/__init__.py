"""Citations in an answer: recognised, then numbered or struck out. Rule: only keys that were shown become numbers."""
