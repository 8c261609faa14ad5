<?php
/**
 * Plugin Name: Failing tools
 * Description: Counts how often each tool failed in the sessions that are read.
 */

add_action(
	'wp_coding_agents_session_parsed',
	function ( array $session ) {
		$failures = array();
		foreach ( $session['messages'] as $message ) {
			foreach ( $message['tool_calls'] ?? array() as $call ) {
				if ( $call['is_error'] ?? false ) {
					$failures[ $call['name'] ] = 1 + ( $failures[ $call['name'] ] ?? 0 );
				}
			}
		}
		$known = get_option( 'agents_failing_tools', array() );
		update_option( 'agents_failing_tools', array( $session['unified_id'] => $failures ) + $known, false );
	}
);
