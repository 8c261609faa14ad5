<?php
/**
 * One drain at a time.
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions;

/**
 * An expiring lease in the options table. GET_LOCK() would hold on one node of a cluster only, and not at all in SQLite.
 */
final class Lease {

	public const OPTION = 'coding_agents_sessions_lease';

	/**
	 * Longer than a listener should take; after that another drain may go on in place of one that was killed.
	 */
	private const SECONDS = 120;

	/**
	 * The option's value while this lease is held: Unix seconds of its end, a blank, a random word.
	 *
	 * @var string
	 */
	private string $value;

	/**
	 * Makes a lease that is not held yet.
	 */
	private function __construct() {
		$this->value = self::fresh();
	}

	/**
	 * Returns the lease, or null while another process holds it.
	 */
	public static function acquire(): ?self {
		global $wpdb;
		$lease = new self();
		$made  = $wpdb->query( $wpdb->prepare( "INSERT IGNORE INTO $wpdb->options (option_name, option_value, autoload) VALUES (%s, %s, 'no')", self::OPTION, $lease->value ) );
		if ( 1 === $made ) {
			return $lease;
		}
		$held = (string) $wpdb->get_var( $wpdb->prepare( "SELECT option_value FROM $wpdb->options WHERE option_name = %s", self::OPTION ) );
		return (int) $held < time() && self::swap( $held, $lease->value ) ? $lease : null;
	}

	/**
	 * Prolongs the lease when half of it is over; false when it was lost.
	 */
	public function hold(): bool {
		if ( (int) $this->value - time() > self::SECONDS / 2 ) {
			return true;
		}
		$fresh = self::fresh();
		$held  = self::swap( $this->value, $fresh );
		if ( $held ) {
			$this->value = $fresh;
		}
		return $held;
	}

	/**
	 * Gives the lease back, if it is still held.
	 */
	public function release(): void {
		global $wpdb;
		$wpdb->query( $wpdb->prepare( "DELETE FROM $wpdb->options WHERE option_name = %s AND option_value = %s", self::OPTION, $this->value ) );
	}

	/**
	 * Replaces the option's value if it is the expected one: the database makes that atomic.
	 *
	 * @param string $expected Value it must have.
	 * @param string $value    Value it gets.
	 */
	private static function swap( string $expected, string $value ): bool {
		global $wpdb;
		return 1 === $wpdb->query( $wpdb->prepare( "UPDATE $wpdb->options SET option_value = %s WHERE option_name = %s AND option_value = %s", $value, self::OPTION, $expected ) );
	}

	/**
	 * Returns a value that nobody else has.
	 */
	private static function fresh(): string {
		return ( time() + self::SECONDS ) . ' ' . bin2hex( random_bytes( 16 ) );
	}
}
