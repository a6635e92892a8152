"""How an evaluation is designed: how many problems, how many runs, and which of them."""
