"""Question sets, measures, intervals and gates. Rule: pure, apart from reading the files that a user names."""
