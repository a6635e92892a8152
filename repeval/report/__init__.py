"""From `Outcomes` to an answer: `analyze`, its rows, and the words and tables that show them."""
