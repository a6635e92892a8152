"""Sentences and tables that only pages of the book show."""
