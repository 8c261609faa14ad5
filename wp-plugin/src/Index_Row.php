<?php
/**
 * The row of a session.
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions;

/**
 * What a row consists of, and its forms: in the database, on the link, for listeners.
 */
final class Index_Row {

	private const ID    = 'varchar(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
	private const LABEL = 'varchar(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL';
	private const WORD  = 'varchar(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
	private const PATH  = 'text CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
	private const COUNT = 'bigint(20) unsigned';

	/**
	 * Columns in order, with their definitions: the same as x-column in schema/index-row.schema.json.
	 *
	 * WordPress's default collation takes ses_6aBc and ses_6abc for one value, hence utf8mb4_bin. Even that ignores
	 * blanks at the end, and the SQLite drop-in ignores case in every text column, hence a hash as the key.
	 */
	public const COLUMNS = array(
		'session_key'        => 'char(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL',
		'session_id'         => self::ID . ' NOT NULL',
		'runtime'            => 'varchar(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL',
		'host'               => self::LABEL,
		'origin'             => self::LABEL,
		'project_path'       => self::PATH . ' DEFAULT NULL',
		'project_hash'       => self::COUNT . ' DEFAULT NULL',
		'started_at'         => 'bigint(20) NOT NULL',
		'ended_at'           => 'bigint(20) DEFAULT NULL',
		'last_activity_at'   => 'bigint(20) NOT NULL',
		'file_path'          => self::PATH . ' NOT NULL',
		'file_mtime'         => 'bigint(20) NOT NULL',
		'message_count'      => self::COUNT . ' NOT NULL',
		'turn_count'         => self::COUNT . ' NOT NULL',
		'model'              => self::ID . ' DEFAULT NULL',
		'token_total'        => self::COUNT . ' DEFAULT NULL',
		'input_tokens'       => self::COUNT . ' DEFAULT NULL',
		'output_tokens'      => self::COUNT . ' DEFAULT NULL',
		'cache_read_tokens'  => self::COUNT . ' DEFAULT NULL',
		'cache_write_tokens' => self::COUNT . ' DEFAULT NULL',
		'reasoning_tokens'   => self::COUNT . ' DEFAULT NULL',
		'cost_usd'           => 'decimal(14,6) DEFAULT NULL',
		'cost_source'        => self::WORD . ' DEFAULT NULL',
		'status'             => self::WORD . ' NOT NULL',
		'kind'               => self::WORD . ' NOT NULL',
		'parent_id'          => self::ID . ' DEFAULT NULL',
		'row_hash'           => 'char(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL',
		'revision'           => self::COUNT . ' NOT NULL',
		'event_pending'      => 'tinyint(1) NOT NULL DEFAULT 0',
		'event_attempts'     => 'smallint(5) unsigned NOT NULL DEFAULT 0',
		'indexed_at'         => 'bigint(20) NOT NULL',
	);

	/**
	 * Columns that belong to whoever writes the row; they are not on the link.
	 */
	public const WRITER = array( 'event_pending', 'event_attempts', 'indexed_at' );

	/**
	 * Columns that listeners do not see.
	 */
	public const BOOKKEEPING = array( 'row_hash', 'revision', 'event_pending', 'event_attempts', 'indexed_at' );

	public const STATUSES = array( 'missing', 'archived', 'active', 'truncated', 'error', 'aborted', 'completed' );
	public const KINDS    = array( 'session', 'subagent' );

	private const TEXT_BYTES = 65535;

	/**
	 * Returns column => placeholder of $wpdb->prepare().
	 *
	 * @return array<string, string>
	 */
	public static function formats(): array {
		static $formats = null;
		if ( null === $formats ) {
			$formats = array_map(
				static function ( string $definition ): string {
					if ( false !== strpos( $definition, 'int(' ) ) {
						return '%d';
					}
					return 0 === strpos( $definition, 'decimal(' ) ? '%F' : '%s';
				},
				self::COLUMNS
			);
		}
		return $formats;
	}

	/**
	 * Returns a database record, in which every value is a string or null, with integers as integers and the cost as a float.
	 *
	 * @param array<string, string|null> $record Columns of the table.
	 */
	public static function hydrate( array $record ): array {
		foreach ( self::formats() as $column => $format ) {
			if ( isset( $record[ $column ] ) && '%s' !== $format ) {
				$record[ $column ] = '%d' === $format ? (int) $record[ $column ] : (float) $record[ $column ];
			}
		}
		return $record;
	}

	/**
	 * Returns a row as listeners get it.
	 *
	 * @param array $row Every column of the table.
	 */
	public static function public( array $row ): array {
		return array_diff_key( $row, array_flip( self::BOOKKEEPING ) );
	}

	/**
	 * Returns a row as it travels on the link.
	 *
	 * @param array $row Every column of the table.
	 */
	public static function wire( array $row ): array {
		return array_diff_key( $row, array_flip( self::WRITER ) );
	}

	/**
	 * Refuses a row that the table would change silently: WordPress switches MySQL's strict mode off.
	 *
	 * @param mixed $row A row from the link.
	 * @throws Sidecar_Error INTERNAL_ERROR: columns, types or lengths are not those of the table.
	 */
	public static function check( $row ): void {
		$columns = array_diff_key( self::COLUMNS, array_flip( self::WRITER ) );
		if ( ! is_array( $row ) || array_diff_key( $row, $columns ) || array_diff_key( $columns, $row ) ) {
			throw new Sidecar_Error( 'INTERNAL_ERROR', __( 'The sidecar sent a row with other columns than the table has.', 'coding-agents-sessions' ) );
		}
		foreach ( $columns as $column => $definition ) {
			if ( ! self::fits( $row[ $column ], $definition, self::formats()[ $column ] ) ) {
				throw new Sidecar_Error(
					'INTERNAL_ERROR',
					/* translators: %s: name of a database column. */
					sprintf( __( 'The sidecar sent a row with a value that does not fit its column %s.', 'coding-agents-sessions' ), $column )
				);
			}
		}
	}

	/**
	 * Tells whether a column takes a value unchanged.
	 *
	 * @param mixed  $value      Value from the link.
	 * @param string $definition Value of COLUMNS.
	 * @param string $format     Value of formats().
	 */
	private static function fits( $value, string $definition, string $format ): bool {
		if ( null === $value ) {
			return false === strpos( $definition, 'NOT NULL' );
		}
		if ( '%d' === $format ) {
			return is_int( $value ) && ( $value >= 0 || false === strpos( $definition, 'unsigned' ) );
		}
		if ( '%F' === $format ) {
			return ( is_int( $value ) || is_float( $value ) ) && abs( $value ) < 1e8;
		}
		if ( ! is_string( $value ) ) {
			return false;
		}
		return preg_match( '/^(?:var)?char\((\d+)\)/', $definition, $length ) ? mb_strlen( $value, 'UTF-8' ) <= (int) $length[1] : strlen( $value ) <= self::TEXT_BYTES;
	}

	/**
	 * Returns the primary key of a session.
	 *
	 * @param string $host       Label of the host.
	 * @param string $origin     Label of the store; '' for the default one.
	 * @param string $runtime    Canonical name.
	 * @param string $session_id The runtime's own id.
	 */
	public static function key( string $host, string $origin, string $runtime, string $session_id ): string {
		return substr( hash( 'sha256', "$host\0$origin\0$runtime\0$session_id" ), 0, 32 );
	}

	/**
	 * Returns the value of project_hash for a path.
	 *
	 * @param string $path Working directory of a session.
	 */
	public static function project_hash( string $path ): int {
		return intval( substr( hash( 'sha256', $path ), 0, 15 ), 16 );
	}

	/**
	 * Returns <runtime>:<native id>.
	 *
	 * @param array $row Columns of the table.
	 */
	public static function unified_id( array $row ): string {
		return $row['runtime'] . ':' . $row['session_id'];
	}
}
