"""The mathematics: plain arrays in, frozen dataclasses out; numpy and scipy only."""
