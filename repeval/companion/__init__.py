"""What is only about the two texts and the book: pages, plots, studies, the ledger of claims."""
