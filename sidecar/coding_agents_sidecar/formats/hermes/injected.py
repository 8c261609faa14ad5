"""Text that the runtime stores as a prompt although nobody typed it. It is known by how it begins.

A cron job's prompt and a skill that somebody invoked are prompts.
"""

COMPACTION = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:", "[PRIOR CONTEXT ")
"""A summary in the place of what was said before; the last one stands inside of a message."""

SEED = (
    "[Your active task list was preserved across context compression]",
    "Continue from the compressed conversation context above.",
)
"""What a compaction may write beside its summary."""

ASKED = (
    "[ASYNC DELEGATION ",
    "[IMPORTANT: Background process ",
    "[Background process ",
    "[System: ",
    "Review the conversation above and consider saving to memory",
    "Review the conversation above and update ",
    "[Earlier conversation digest ",
    "You just executed tool calls but returned an empty response.",
)
"""The model has to go on from it."""

TOLD = (
    *COMPACTION,
    *SEED,
    "[System: The active model for this chat has changed",
    "[System: The user has changed the assistant's personality",
    "[System: The user has cleared the personality overlay",
    "[IMPORTANT: MCP servers have been reloaded",
)
"""It asks for nothing: the conversation stands as it did before."""

NOTES = ("[System note: ", "[Note: model was just switched ")
"""What may stand before a prompt, up to the next bracket."""


def is_told(words: str) -> bool:
    """Return whether a text only lets the model know something."""
    return words.startswith(TOLD)


def is_asked(words: str) -> bool:
    """Return whether a text makes the model go on although nobody asked it to."""
    return words.startswith(ASKED) and not is_told(words)


def parted(words: str) -> tuple[str, str]:
    """Return the notes that stand before a prompt, and the prompt."""
    prompt = words
    while prompt.startswith(NOTES) and (end := prompt.find("]")) >= 0:
        prompt = prompt[end + 1 :].lstrip()
    return words[: len(words) - len(prompt)].rstrip(), prompt
