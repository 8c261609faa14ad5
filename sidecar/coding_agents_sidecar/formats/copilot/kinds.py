"""The types of events that versions up to 1.0.102 are known to write; most of them say nothing of what a session comes to."""

FAMILIES = {
    "assistant": """fusion_phase_completed fusion_phase_failed fusion_phase_started idle intent message message_delta
        message_start reasoning reasoning_delta server_tool_progress streaming_delta tool_call_delta turn_end turn_start usage""",
    "auto_mode_switch": "completed requested",
    "capabilities": "changed",
    "command": "completed execute queued",
    "commands": "changed",
    "elicitation": "completed requested",
    "exit_plan_mode": "completed requested",
    "external_tool": "completed requested",
    "hook": "end progress start",
    "mcp": """headers_refresh_completed headers_refresh_required oauth_completed oauth_required prompts.list_changed
        resources.list_changed tools.list_changed""",
    "mcp_app": "tool_call_complete",
    "model": "call_failure call_finished",
    "pending_messages": "modified",
    "permission": "completed requested",
    "sampling": "completed requested",
    "session": """auto_mode_resolved autopilot_objective_changed background_tasks_changed binary_asset canvas.closed
        canvas.opened canvas.recorded canvas.registry_changed canvas.removed canvas.unavailable compaction_complete
        compaction_start context_changed context_cleared custom_agents_updated custom_notification error
        extensions.attachments_pushed extensions_loaded fusion_completed fusion_resolved fusion_route_failed
        fusion_route_started handoff idle info managed_settings_enforced managed_settings_resolved
        mcp_server_status_changed mcp_servers_loaded memory_changed mode_changed mode_notice_delivered model_change
        permissions_changed plan_changed remote_steerable_changed resume schedule_cancelled schedule_created
        schedule_rearmed session_limits_changed shutdown skills_loaded snapshot_rewind start task_complete title_changed
        todos_changed tools_updated truncation usage_checkpoint usage_info usage_record warning workspace_file_changed""",
    "session_limits_exhausted": "completed requested",
    "skill": "invoked",
    "subagent": "completed configured deselected failed selected started",
    "system": "message notification",
    "tool": "execution_complete execution_partial_result execution_progress execution_start user_requested",
    "tool_search": "activated",
    "user": "message",
    "user_input": "completed requested",
}

KNOWN = frozenset(f"{family}.{name}" for family, names in FAMILIES.items() for name in names.split()) | {"abort"}
