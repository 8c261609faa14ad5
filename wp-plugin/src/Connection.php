<?php
/**
 * Statements on the session index.
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions;

/**
 * Runs statements through $wpdb in such a way that text stays exact and no failure is silent.
 */
final class Connection {

	private const TRIES = 5;

	/**
	 * Makes WordPress take the table for what it is.
	 *
	 * Its own guess for a table of ascii and utf8mb4 columns is ascii, and then it refuses every statement with an emoji.
	 */
	public function __construct() {
		add_filter( 'pre_get_table_charset', array( self::class, 'charset' ), 10, 2 );
	}

	/**
	 * Returns the character set of the table.
	 *
	 * @param mixed $charset What other filters say.
	 * @param mixed $table   Name of a table.
	 * @return mixed
	 */
	public static function charset( $charset, $table ) {
		return strtolower( (string) $table ) === strtolower( Table::name() ) ? 'utf8mb4' : $charset;
	}

	/**
	 * Returns the records of a query.
	 *
	 * @param string $sql  With the placeholders of $wpdb->prepare().
	 * @param array  $args Their values.
	 * @return array<int, array<string, string|null>>
	 * @throws Sidecar_Error INDEX_UNAVAILABLE: the database refuses.
	 */
	public function records( string $sql, array $args = array() ): array {
		return $this->run(
			static function () use ( $sql, $args ): array {
				global $wpdb;
				return (array) $wpdb->get_results( self::prepared( $sql, $args ), ARRAY_A );
			}
		);
	}

	/**
	 * Runs a statement that writes, once more when it lost against another writer; returns how many rows it changed.
	 *
	 * @param string $sql  With the placeholders of $wpdb->prepare().
	 * @param array  $args Their values.
	 * @throws Sidecar_Error INDEX_UNAVAILABLE: the database refuses.
	 */
	public function write( string $sql, array $args = array() ): int {
		return $this->run(
			static function () use ( $sql, $args ): int {
				global $wpdb;
				$statement = self::prepared( $sql, $args );
				for ( $try = 1; $try < self::TRIES; $try++ ) {
					$changed = $wpdb->query( $statement );
					if ( ! preg_match( '/deadlock|lock wait timeout|database is locked/i', (string) $wpdb->last_error ) ) {
						return (int) $changed;
					}
					usleep( wp_rand( 10000, 50000 ) * $try );
				}
				return (int) $wpdb->query( $statement );
			}
		);
	}

	/**
	 * Returns in one line why the last statement failed; '' when it did not.
	 */
	public static function reason(): string {
		global $wpdb;
		$error = wp_strip_all_tags( (string) $wpdb->last_error );
		// The SQLite drop-in adds its own statements and a backtrace.
		if ( preg_match( '/SQLSTATE.*/', $error, $line ) ) {
			$error = $line[0];
		}
		return trim( (string) strtok( $error, "\n" ) );
	}

	/**
	 * Puts values into a statement.
	 *
	 * @param string $sql  With placeholders.
	 * @param array  $args Their values.
	 */
	private static function prepared( string $sql, array $args ): string {
		global $wpdb;
		return $args ? $wpdb->prepare( $sql, $args ) : $sql;
	}

	/**
	 * Calls a function while the connection speaks utf8mb4 and errors are not printed.
	 *
	 * @param callable $statement Runs the statement.
	 * @return mixed What the function returns.
	 * @throws Sidecar_Error INDEX_UNAVAILABLE: the database refuses.
	 */
	private function run( callable $statement ) {
		global $wpdb;
		$shown   = $wpdb->suppress_errors( true );
		$foreign = 0 !== strcasecmp( (string) $wpdb->charset, 'utf8mb4' );
		if ( $foreign ) {
			$wpdb->set_charset( $wpdb->dbh, 'utf8mb4', 'utf8mb4_bin' );
		}
		$result = $statement();
		$reason = self::reason();
		if ( $foreign ) {
			$wpdb->set_charset( $wpdb->dbh );
		}
		$wpdb->suppress_errors( $shown );
		if ( '' !== $reason ) {
			throw new Sidecar_Error(
				'INDEX_UNAVAILABLE',
				/* translators: 1: name of a database table, 2: what the database said. */
				sprintf( __( 'The table %1$s cannot be used: %2$s.', 'coding-agents-sessions' ), Table::name(), rtrim( $reason, '.' ) )
			);
		}
		return $result;
	}
}
