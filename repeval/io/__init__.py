"""From anything that holds judged runs to `Outcomes`: tables, logs, and what is odd about them."""
