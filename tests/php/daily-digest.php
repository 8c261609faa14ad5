<?php
/**
 * Plugin Name: Daily digest
 * Description: Keeps a line a day of what coding agents did: sessions, tokens and dollars.
 */

add_action(
	'wp_coding_agents_session_indexed',
	function ( array $row ) {
		$digest = get_option( 'agents_daily_digest', array() );
		$day    = wp_date( 'Y-m-d', $row['started_at'] );
		// A session is announced again whenever it has grown: its newest numbers replace the earlier ones.
		$digest[ $day ][ $row['session_key'] ] = array( $row['token_total'] ?? 0, $row['cost_usd'] ?? 0.0 );
		update_option( 'agents_daily_digest', $digest, false );
	}
);

function agents_daily_digest( string $day ): string {
	$sessions = get_option( 'agents_daily_digest', array() )[ $day ] ?? array();
	return sprintf( '%s: %d sessions, %d tokens, $%.2f', $day, count( $sessions ), array_sum( array_column( $sessions, 0 ) ), array_sum( array_column( $sessions, 1 ) ) );
}
