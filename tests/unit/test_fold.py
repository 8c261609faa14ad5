import pytest

from coding_agents_sidecar.fold import Fold
from coding_agents_sidecar.model import (
    Abandoned,
    Checkpoint,
    Ended,
    Event,
    Info,
    Message,
    Seen,
    Skipped,
    Stale,
    Start,
    Tokens,
    ToolCall,
    ToolResult,
    Usage,
)
from coding_agents_sidecar.reading import Reading


def fold(*events: Event) -> Reading:
    """Return the one session of these events."""
    [reading] = Fold("toy").run([Start("s"), *events]).readings()
    return reading


PROMPT = Message("user", 10.0, content="Hello")
ANSWER = Message("assistant", 20.0, key="r1", content="Hi", model="m")


def test_the_lines_of_one_response_are_one_message() -> None:
    reading = fold(PROMPT, ANSWER, Message("assistant", 21.0, key="r1", content="more"), Message("assistant", 22.0, key="r2"))
    assert (reading.message_count, reading.turn_count) == (3, 1)


def test_a_response_reported_twice_counts_its_largest_parts() -> None:
    reading = fold(PROMPT, ANSWER, Usage(Tokens(5, 3, 7), "r1", "m", 20.0), Usage(Tokens(5, 160, None), "r1", "m", 21.0))
    assert reading.usage == {(0, "m"): [5, 160, 7, None, None, None]}


def test_usage_without_identity_is_added() -> None:
    reading = fold(PROMPT, Usage(Tokens(1), None, "m", 1000.0), Usage(Tokens(2), None, "m", 1100.0))
    assert reading.usage == reading.keyless == {(900, "m"): [3, None, None, None, None, None]}


def test_unknown_parts_stay_unknown_and_zero_stays_zero() -> None:
    assert fold(PROMPT, ANSWER).usage == {}
    assert fold(PROMPT, ANSWER, Usage(Tokens(0, 0), "r1", "m", 20.0)).usage == {(0, "m"): [0, 0, None, None, None, None]}


def test_totals_of_the_session_stand_in_only_where_responses_say_nothing() -> None:
    whole = Info(tokens=Tokens(9, 9), cost_usd=0.5)
    assert fold(PROMPT, ANSWER, whole).usage == {(0, "m"): [9, 9, None, None, None, 500000]}
    assert fold(PROMPT, ANSWER, whole, Usage(Tokens(1, 1), "r1", "m", 20.0)).usage == {(0, "m"): [1, 1, None, None, None, 500000]}


def test_a_session_without_user_or_assistant_is_none() -> None:
    assert Fold("toy").run([Start("s"), Message("system", 1.0), Seen(2.0)]).readings() == []


def test_the_title_is_the_best_then_the_last_then_the_first_prompt() -> None:
    assert fold(Message("user", 1.0, content="  a\n b  "), PROMPT).title == "a b"
    assert fold(PROMPT, Info(title="low"), Info(title="high", title_rank=3), Info(title="late")).title == "high"
    assert fold(PROMPT, Info(title="one"), Info(title="two")).title == "two"
    assert fold(PROMPT, Info(title="/init", title_rank=0)).title == "Hello"
    assert fold(ANSWER, Info(title="/init", title_rank=0)).title == "/init"
    assert fold(Message("user", 1.0, content="x" * 300)).title == "x" * 100


def test_the_model_is_the_last_real_one_and_the_chosen_one_without_an_answer() -> None:
    assert fold(PROMPT, Info(model="chosen")).model == "chosen"
    assert fold(PROMPT, Info(model="chosen"), ANSWER, Message("assistant", 30.0, key="r2", model=None)).model == "m"


def test_abandoned_messages_are_not_counted_but_their_tokens_are() -> None:
    reading = fold(
        PROMPT,
        ANSWER,
        Message("user", 30.0, content="wrong way", branch=1),
        Message("assistant", 31.0, key="r2", branch=1),
        Usage(Tokens(4, 4), "r2", "m", 31.0),
        Message("user", 40.0, content="right way", branch=2),
        Abandoned(frozenset({1})),
    )
    assert (reading.message_count, reading.turn_count) == (3, 2)
    assert reading.usage == {(0, "m"): [4, 4, None, None, None, None]}


def test_turns_up_to_a_response_leave_out_abandoned_ones() -> None:
    late = Message("assistant", 50.0, key="r3", branch=2)
    reading = fold(PROMPT, Message("user", 30.0, branch=1), Message("user", 40.0, branch=2), late, Abandoned(frozenset({1})))
    assert [holding.turns for holding in reading.holdings] == [2]


def test_the_first_record_after_a_response_is_noted_with_it() -> None:
    reading = fold(
        PROMPT, ANSWER, Usage(Tokens(1), "r1", "m", 20.0), Message("assistant", 21.0, key="r1"), Seen(25.0), Seen(26.0)
    )
    assert [(holding.time, holding.next_time) for holding in reading.holdings] == [(20.0, 25.0)]


def test_what_nothing_answers_is_aborted() -> None:
    call = Message("assistant", 20.0, key="r1", tool_calls=[ToolCall("c1", "Bash")])
    result = Message("tool", 21.0, tool_result=ToolResult("c1", "ok"))
    assert fold(PROMPT).ending == "aborted"
    assert fold(PROMPT, call).ending == "aborted"
    assert fold(PROMPT, call, result).ending == "aborted"
    assert fold(PROMPT, call, result, ANSWER).ending == "completed"
    assert fold(PROMPT, ANSWER, Message("system", 30.0)).ending == "completed"


def test_the_runtimes_word_on_the_end_holds_until_the_conversation_goes_on() -> None:
    assert fold(PROMPT, Ended("error")).ending == "error"
    assert fold(PROMPT, Ended("error"), Message("system", 11.0)).ending == "error"
    assert fold(PROMPT, Ended("error"), PROMPT, ANSWER).ending == "completed"


def test_a_tail_that_cannot_be_read_is_no_skipped_record() -> None:
    reading = fold(PROMPT, ANSWER, Skipped("bad"), Skipped("cut", tail=True))
    assert (reading.skipped, reading.torn) == (1, True)


def test_start_of_an_open_session_goes_back_to_it() -> None:
    events: list[Event] = [Start("a"), PROMPT, Start("b", "subagent", "a"), PROMPT, Start("a"), ANSWER]
    readings = Fold("toy").run(events).readings()
    assert [(one.start.session_id, one.message_count) for one in readings] == [("a", 2), ("b", 1)]


def test_state_goes_on_exactly_where_it_stopped() -> None:
    call = Message("assistant", 21.0, key="r1", tool_calls=[ToolCall("c", "B")])
    events: list[Event] = [
        Start("a"),
        PROMPT,
        ANSWER,
        Usage(Tokens(5, 3), "r1", "m", 20.0),
        Info(title="t", tags=("x",), meta={"v": 1}),
    ]
    events += [Start("b"), Message("user", 12.0, content="b", branch=4), Start("a"), call, Usage(Tokens(5, 9), "r1", "m", 21.0)]
    events += [Message("tool", 22.0, tool_result=ToolResult("c", "x")), Skipped("bad"), Seen(23.0), Info(tokens=Tokens(1))]
    events += [Message("assistant", 24.0, key="r2", content="end", model="n"), Usage(Tokens(1), "r2", "n", 24.0)]
    whole = Fold("toy").run(events)
    for cut in range(1, len(events) + 1):
        first = Fold("toy").run([*events[:cut], Checkpoint(0)])
        known = {name: list(session.holdings.values()) for name, session in first.sessions.items()}
        assert first.state is not None
        second = Fold("toy").restore(first.state, known)
        second.run(events[cut:])
        for name, session in whole.sessions.items():
            resumed = second.sessions[name]
            assert resumed.state() == session.state()
            assert resumed.holdings == session.holdings


def test_leaving_a_branch_that_was_counted_before_asks_for_a_full_read() -> None:
    first = Fold("toy").run([Start("a"), PROMPT, Message("user", 30.0, branch=1), Checkpoint(0)])
    assert first.state is not None
    second = Fold("toy").restore(first.state, {})
    second.run([Start("a"), Abandoned(frozenset())])
    with pytest.raises(Stale):
        second.run([Abandoned(frozenset({1}))])


def test_a_record_after_the_last_newline_leaves_no_checkpoint_but_a_cut_does() -> None:
    assert Fold("toy").run([Start("a"), PROMPT, Checkpoint(9), ANSWER]).checkpoint is None
    assert Fold("toy").run([Start("a"), PROMPT, Checkpoint(9), Skipped("cut", tail=True)]).checkpoint == Checkpoint(9)
