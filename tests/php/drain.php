<?php
/**
 * Run by "wp eval-file": announces what is pending, for at most so many seconds as the first argument says, and prints
 * the summary as JSON.
 */

echo wp_json_encode( Coding_Agents\Sessions\Sessions::create()->drain( isset( $args[0] ) ? (int) $args[0] : null ) );
