"""What is shown of a run: blocks, the table, JSON, HTML, Markdown, badges, receipts and reproduction scripts."""
