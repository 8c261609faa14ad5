"""What Codex stores: rollouts of every age, their names, and the titles beside them."""
