<?php
/**
 * What the plugin remembers beside its table.
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions;

/**
 * The plugin's options: one set for a network, never autoloaded.
 */
final class State {

	/**
	 * Version of the table; after a failure array( 'version' => int, 'error' => string ).
	 */
	public const SCHEMA = 'coding_agents_sessions_schema';

	/**
	 * Label of a host => hash of the machine, user and home that publish under it.
	 */
	public const PUBLISHERS = 'coding_agents_sessions_publishers';

	/**
	 * Unix seconds of the last complete pass.
	 */
	public const LAST_PASS = 'coding_agents_sessions_last_pass';

	/**
	 * The last scheduled pass that failed: array( 'time' => int, 'owed' => bool, 'code' => string, 'message' => string ).
	 * One that failed in a web request is owed until a complete pass.
	 */
	public const CRON_FAILURE = 'coding_agents_sessions_cron_failure';

	/**
	 * Returns an option.
	 *
	 * @param string $option  A constant of this class.
	 * @param mixed  $default What it is when it was never set.
	 * @return mixed
	 */
	public static function get( string $option, $default ) {
		return get_site_option( $option, $default );
	}

	/**
	 * Sets an option.
	 *
	 * @param string $option A constant of this class.
	 * @param mixed  $value  Its value.
	 */
	public static function set( string $option, $value ): void {
		update_site_option( $option, $value );
	}

	/**
	 * Forgets an option.
	 *
	 * @param string $option A constant of this class.
	 */
	public static function clear( string $option ): void {
		delete_site_option( $option );
	}

	/**
	 * Forgets everything.
	 */
	public static function clear_all(): void {
		array_map( array( self::class, 'clear' ), array( self::SCHEMA, self::PUBLISHERS, self::LAST_PASS, self::CRON_FAILURE ) );
	}
}
