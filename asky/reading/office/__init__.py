"""Office files: documents, presentations and workbooks. Macros are not run and external links not followed."""
