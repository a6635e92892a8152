"""How two systems are told apart: limits and their hull, what would be seen, and reruns."""
