"""Session files of Gemini CLI and the programs made from it."""
