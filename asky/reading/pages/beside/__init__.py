"""What a PDF holds beside the text of its pages: forms, notes and other files."""
