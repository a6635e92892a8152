"""Rules about single runs, system by system: which are none, missing, or stopped by outcomes."""
