<?php
/**
 * Run by "wp eval-file": reads a JSON object of names and arguments of a list from standard input, and prints for each
 * the native ids that the API lists, or the code of its error.
 */

$sessions = Coding_Agents\Sessions\Sessions::create();
$found    = array();
foreach ( json_decode( stream_get_contents( STDIN ), true ) as $name => $arguments ) {
	$rows           = $sessions->list( $arguments );
	$found[ $name ] = is_wp_error( $rows ) ? $rows->get_error_code() : array_column( $rows, 'session_id' );
}
echo wp_json_encode( $found );
