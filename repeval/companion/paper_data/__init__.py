"""The paper's outcomes: the released tensor, and the stand-in rebuilt from published totals."""
