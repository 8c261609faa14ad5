<?php
/**
 * The table of the session index.
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions;

/**
 * Creates, checks and drops the table. One table serves a whole network.
 */
final class Table {

	/**
	 * Version of the columns and keys; travels in the handshake with the sidecar.
	 */
	public const VERSION = 1;

	/**
	 * Keys, as x-keys in schema/index-row.schema.json. No column takes more than 764 bytes of a key: old row formats
	 * of InnoDB stop at 767.
	 */
	public const KEYS = array(
		'PRIMARY KEY  (session_key)',
		'KEY session_id (session_id)',
		'KEY runtime_started (runtime,started_at)',
		'KEY host_revision (host,revision)',
		'KEY project_path (project_path(191))',
		'KEY project_started (project_hash,started_at)',
		'KEY kind_started (kind,started_at)',
		'KEY parent_id (parent_id)',
		'KEY pending_revision (event_pending,revision)',
	);

	/**
	 * Returns the name of the table.
	 */
	public static function name(): string {
		global $wpdb;
		return $wpdb->base_prefix . 'coding_agents_session_index';
	}

	/**
	 * Returns the statement that creates the table.
	 *
	 * Its layout is the dialect of dbDelta(): one column a line, two blanks after PRIMARY KEY, KEY and not INDEX, types
	 * in lower case. Engine and character set are spelled out, since the server's and the site's may be MyISAM and utf8.
	 */
	public static function definition(): string {
		$lines = array();
		foreach ( Index_Row::COLUMNS as $column => $definition ) {
			$lines[] = "$column $definition";
		}
		$body = implode( ",\n", array_merge( $lines, self::KEYS ) );
		return 'CREATE TABLE ' . self::name() . " (\n$body\n) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin";
	}

	/**
	 * Creates or updates the table after an installation or update of the plugin. A failure is tried once, not on every request.
	 */
	public static function maybe_upgrade(): void {
		$state = State::get( State::SCHEMA, 0 );
		$known = is_array( $state ) ? (int) $state['version'] : (int) $state;
		if ( $known < self::VERSION ) {
			self::upgrade();
		}
	}

	/**
	 * Creates or updates the table, and remembers how that went.
	 */
	public static function upgrade(): void {
		try {
			self::ensure();
		} catch ( Sidecar_Error $error ) {
			Log::warning( $error->getMessage() );
		}
	}

	/**
	 * Creates or updates the table unless it is as it should be.
	 *
	 * @throws Sidecar_Error INDEX_UNAVAILABLE: the table cannot be brought into its shape.
	 */
	public static function ensure(): void {
		global $wpdb;
		$reason = '';
		if ( self::missing_parts() ) {
			require_once ABSPATH . 'wp-admin/includes/upgrade.php';
			$shown = $wpdb->suppress_errors( true );
			dbDelta( self::definition() );
			$reason = Connection::reason();
			$wpdb->suppress_errors( $shown );
		}
		// dbDelta reports success when its statements fail, so only a look at the table tells.
		$missing = self::missing_parts();
		if ( ! $missing ) {
			if ( self::VERSION !== (int) State::get( State::SCHEMA, 0 ) || null !== self::failure() ) {
				State::set( State::SCHEMA, self::VERSION );
			}
			return;
		}
		$message = sprintf(
			/* translators: 1: name of a database table, 2: what the database said or the parts that are missing. */
			__( 'The table %1$s of Coding Agents Sessions could not be created: %2$s. When the database is mended, "wp coding-agents sessions reindex" tries again.', 'coding-agents-sessions' ),
			self::name(),
			'' === $reason ? implode( ', ', $missing ) : rtrim( $reason, '.' )
		);
		State::set(
			State::SCHEMA,
			array(
				'version' => self::VERSION,
				'error'   => $message,
			)
		);
		throw new Sidecar_Error( 'INDEX_UNAVAILABLE', $message );
	}

	/**
	 * Returns why the table could not be created, or null.
	 */
	public static function failure(): ?string {
		$state = State::get( State::SCHEMA, 0 );
		return is_array( $state ) ? $state['error'] : null;
	}

	/**
	 * Returns the columns and keys that the table lacks; all of them when there is no table.
	 *
	 * @return string[]
	 */
	public static function missing_parts(): array {
		global $wpdb;
		$shown = $wpdb->suppress_errors( true );
		$table = self::name();
		$found = array_merge( $wpdb->get_col( "DESCRIBE $table" ), $wpdb->get_col( "SHOW INDEX FROM $table", 2 ) );
		$wpdb->suppress_errors( $shown );
		return array_values( array_diff( array_merge( array_keys( Index_Row::COLUMNS ), self::key_names() ), $found ) );
	}

	/**
	 * Returns the names of the keys.
	 *
	 * @return string[]
	 */
	private static function key_names(): array {
		return array_map(
			static function ( string $key ): string {
				return preg_match( '/^KEY (\w+)/', $key, $name ) ? $name[1] : 'PRIMARY';
			},
			self::KEYS
		);
	}

	/**
	 * Drops the table.
	 */
	public static function drop(): void {
		global $wpdb;
		$wpdb->query( 'DROP TABLE IF EXISTS ' . self::name() );
	}

	/**
	 * Shows administrators why the table could not be created.
	 */
	public static function notice(): void {
		$failure = current_user_can( 'activate_plugins' ) ? self::failure() : null;
		if ( null !== $failure ) {
			printf( '<div class="notice notice-error"><p>%s</p></div>', esc_html( $failure ) );
		}
	}
}
