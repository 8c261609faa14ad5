<?php
/**
 * The rows of the session index.
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions;

/**
 * Reads and writes rows; their events are the Outbox's. Every method throws Sidecar_Error INDEX_UNAVAILABLE when the
 * database refuses.
 */
final class Index {

	/**
	 * Rows a statement.
	 */
	public const BATCH = 500;

	/**
	 * Rows a page of a list.
	 */
	private const PAGE = 1000;

	/**
	 * A shorter piece of an id is no way to name a session.
	 */
	private const PREFIX_LENGTH = 6;

	/**
	 * Runs the statements.
	 *
	 * @var Connection
	 */
	private Connection $connection;

	/**
	 * Sets the connection.
	 *
	 * @param Connection $connection Runs the statements.
	 */
	public function __construct( Connection $connection ) {
		$this->connection = $connection;
	}

	/**
	 * Returns the highest revision among the rows of a host; 0 when it has none.
	 *
	 * @param string $host Label.
	 */
	public function revision( string $host ): int {
		return (int) $this->value( 'SELECT MAX(revision) FROM ' . Table::name() . ' WHERE host = %s', array( $host ) );
	}

	/**
	 * Inserts or updates rows in one statement. A new row and a changed one get their event pending.
	 *
	 * A row that is newer already stays: of two passes at once, the slower one must not bring back what is outdated.
	 * CASE stands where MySQL would take IF(): the SQLite drop-in's IF() is never true for a comparison.
	 *
	 * @param array[] $rows At most BATCH rows of the link.
	 * @throws Sidecar_Error INTERNAL_ERROR: a row does not fit the table. INDEX_UNAVAILABLE.
	 */
	public function upsert( array $rows ): void {
		if ( ! $rows ) {
			return;
		}
		array_map( array( Index_Row::class, 'check' ), $rows );
		// Writers that take their locks in one order do not block one another.
		usort( $rows, static fn( array $one, array $other ): int => strcmp( $one['session_key'], $other['session_key'] ) );
		$formats = Index_Row::formats();
		$values  = array();
		$args    = array();
		foreach ( $rows as $row ) {
			$row  += array(
				'event_pending'  => 1,
				'event_attempts' => 0,
				'indexed_at'     => time(),
			);
			$cells = array();
			foreach ( $formats as $column => $format ) {
				$cells[] = null === $row[ $column ] ? 'NULL' : $format;
				if ( null !== $row[ $column ] ) {
					$args[] = $row[ $column ];
				}
			}
			$values[] = '(' . implode( ',', $cells ) . ')';
		}
		$newer = 'VALUES(revision) >= revision';
		$sets  = array(
			"event_pending = CASE WHEN $newer AND row_hash <> VALUES(row_hash) THEN 1 ELSE event_pending END",
			"event_attempts = CASE WHEN $newer AND row_hash <> VALUES(row_hash) THEN 0 ELSE event_attempts END",
		);
		// MySQL sees the new values of what stands further left, so what the conditions compare comes last.
		$facts = array_diff( array_keys( $formats ), array( 'session_key', 'event_pending', 'event_attempts', 'row_hash', 'revision' ) );
		foreach ( array_merge( $facts, array( 'row_hash', 'revision' ) ) as $column ) {
			$sets[] = "$column = CASE WHEN $newer THEN VALUES($column) ELSE $column END";
		}
		$this->connection->write(
			'INSERT INTO ' . Table::name() . ' (' . implode( ',', array_keys( $formats ) ) . ') VALUES ' . implode( ',', $values )
			. ' ON DUPLICATE KEY UPDATE ' . implode( ', ', $sets ),
			$args
		);
	}

	/**
	 * Goes through the rows of a host below a revision.
	 *
	 * @param string   $host    Label.
	 * @param int      $floor   Revision.
	 * @param callable $on_rows Gets up to BATCH rows at a time.
	 */
	public function each_below( string $host, int $floor, callable $on_rows ): void {
		list( $revision, $key ) = array( -1, '' );
		do {
			$rows = $this->rows(
				'WHERE host = %s AND revision < %d AND (revision > %d OR (revision = %d AND session_key > %s)) ORDER BY revision, session_key LIMIT %d',
				array( $host, $floor, $revision, $revision, $key, self::BATCH )
			);
			if ( $rows ) {
				$on_rows( $rows );
				list( 'revision' => $revision, 'session_key' => $key ) = end( $rows );
			}
		} while ( self::BATCH === count( $rows ) );
	}

	/**
	 * Goes through a list page by page, so that one of any length fits into memory.
	 *
	 * @param Criteria $criteria Which, in which order, how many.
	 * @param callable $on_rows  Gets a page of rows at a time.
	 */
	public function each( Criteria $criteria, callable $on_rows ): void {
		$column                = Criteria::SORTS[ $criteria->sort ];
		$order                 = $criteria->order;
		list( $where, $args )  = $this->where( $criteria );
		list( $after, $bound ) = array( '', array() );
		$left                  = $criteria->limit ?? PHP_INT_MAX;
		do {
			$size = min( self::PAGE, $left );
			$rows = $this->rows( "WHERE $where$after ORDER BY $column $order, session_key $order LIMIT %d", array_merge( $args, $bound, array( $size ) ) );
			if ( $rows ) {
				$on_rows( $rows );
				list( $after, $bound ) = $this->after( $column, $order, end( $rows ) );
			}
			$left -= $size;
		} while ( count( $rows ) === $size && $left > 0 );
	}

	/**
	 * Returns the condition for the rows that follow one in a list. The database puts null before all values.
	 *
	 * @param string $column Sorted by, then by session_key.
	 * @param string $order  Either asc or desc.
	 * @param array  $row    The last row of a page.
	 * @return array{string, array}
	 */
	private function after( string $column, string $order, array $row ): array {
		$value   = $row[ $column ];
		$key     = $row['session_key'];
		$beyond  = 'desc' === $order ? '<' : '>';
		$format  = Index_Row::formats()[ $column ];
		$further = "session_key $beyond %s";
		if ( null === $value ) {
			return array( 'desc' === $order ? " AND ($column IS NULL AND $further)" : " AND ($column IS NOT NULL OR $further)", array( $key ) );
		}
		$null = 'desc' === $order ? " OR $column IS NULL" : '';
		// The first condition repeats the second one so that an index on the column serves it.
		return array(
			" AND ($column $beyond= $format$null) AND ($column $beyond $format OR ($column = $format AND $further)$null)",
			array( $value, $value, $value, $key ),
		);
	}

	/**
	 * Returns how many rows a list has without its limit.
	 *
	 * @param Criteria $criteria Which.
	 */
	public function count( Criteria $criteria ): int {
		list( $where, $args ) = $this->where( $criteria );
		return (int) $this->value( 'SELECT COUNT(*) FROM ' . Table::name() . " WHERE $where", $args );
	}

	/**
	 * Returns the condition of a list and its values.
	 *
	 * @param Criteria $criteria Which.
	 * @return array{string, array}
	 */
	private function where( Criteria $criteria ): array {
		$terms = array( '1 = 1' );
		$args  = array();
		foreach ( array(
			'runtime' => $criteria->runtimes,
			'model'   => $criteria->models,
			'status'  => $criteria->statuses,
			'kind'    => $criteria->kinds,
			'host'    => $criteria->hosts,
		) as $column => $values ) {
			if ( $values ) {
				$terms[] = "$column IN (" . implode( ',', array_fill( 0, count( $values ), '%s' ) ) . ')';
				$args    = array_merge( $args, $values );
			}
		}
		if ( null !== $criteria->since ) {
			$terms[] = 'started_at >= %d';
			$args[]  = $criteria->since;
		}
		if ( null !== $criteria->until ) {
			$terms[] = 'started_at <= %d';
			$args[]  = $criteria->until;
		}
		if ( null !== $criteria->project ) {
			list( $term, $values ) = $this->project( $criteria->project );
			$terms[]               = $term;
			$args                  = array_merge( $args, $values );
		}
		return array( implode( ' AND ', $terms ), $args );
	}

	/**
	 * Returns the condition for a project and its values.
	 *
	 * @param string $project As Criteria::$project.
	 * @return array{string, array}
	 */
	private function project( string $project ): array {
		global $wpdb;
		$exact = '(project_hash = %d AND project_path = %s)';
		if ( 0 === strpos( $project, 'basename:' ) ) {
			$name = substr( $project, strlen( 'basename:' ) );
			return array( "($exact OR SUBSTR(project_path, %d) = %s)", array( Index_Row::project_hash( $name ), $name, -mb_strlen( "/$name", 'UTF-8' ), "/$name" ) );
		}
		if ( '/' !== substr( $project, -1 ) || '/' === $project ) {
			return array( $exact, array( Index_Row::project_hash( $project ), $project ) );
		}
		$folder = rtrim( $project, '/' );
		// LIKE uses the index; LEFT() is exact where LIKE ignores case, in SQLite.
		return array(
			"($exact OR (project_path LIKE %s AND LEFT(project_path, %d) = %s))",
			array( Index_Row::project_hash( $folder ), $folder, $wpdb->esc_like( $project ) . '%', mb_strlen( $project, 'UTF-8' ), $project ),
		);
	}

	/**
	 * Returns the rows with a native id, or, when there are none, those whose id begins with it.
	 *
	 * @param string      $session_id Native id or a beginning of one.
	 * @param string|null $runtime    Canonical name; null for any.
	 * @param string|null $host       Label; null for any.
	 * @param string|null $origin     Label of the store; null for any.
	 * @param int         $limit      At most so many.
	 * @return array[]
	 */
	public function named( string $session_id, ?string $runtime, ?string $host, ?string $origin, int $limit ): array {
		global $wpdb;
		$filters = array_filter( compact( 'runtime', 'host', 'origin' ), 'is_string' );
		$rest    = implode( '', array_map( static fn( string $column ): string => " AND $column = %s", array_keys( $filters ) ) );
		$rest   .= ' ORDER BY runtime, session_id, origin, host LIMIT %d';
		$found   = $this->rows( "WHERE session_id = %s$rest", array_merge( array( $session_id ), array_values( $filters ), array( $limit ) ) );
		// The database may ignore case or blanks at the end.
		$exact = array_filter( $found, static fn( array $row ): bool => $row['session_id'] === $session_id );
		if ( $exact || mb_strlen( $session_id, 'UTF-8' ) < self::PREFIX_LENGTH ) {
			return array_values( $exact );
		}
		$found = $this->rows( "WHERE session_id LIKE %s$rest", array_merge( array( $wpdb->esc_like( $session_id ) . '%' ), array_values( $filters ), array( $limit ) ) );
		return array_values( array_filter( $found, static fn( array $row ): bool => 0 === strpos( $row['session_id'], $session_id ) ) );
	}

	/**
	 * Tells whether any row has this runtime.
	 *
	 * @param string $runtime Canonical name.
	 */
	public function has_runtime( string $runtime ): bool {
		return null !== $this->value( 'SELECT 1 FROM ' . Table::name() . ' WHERE runtime = %s LIMIT 1', array( $runtime ) );
	}

	/**
	 * Deletes rows.
	 *
	 * @param string[] $keys Values of session_key.
	 */
	public function delete( array $keys ): void {
		foreach ( array_chunk( $keys, self::BATCH ) as $some ) {
			$this->connection->write( 'DELETE FROM ' . Table::name() . ' WHERE session_key IN (' . implode( ',', array_fill( 0, count( $some ), '%s' ) ) . ')', $some );
		}
	}

	/**
	 * Returns rows.
	 *
	 * @param string $rest What follows the table in the statement.
	 * @param array  $args Values.
	 * @return array[]
	 */
	private function rows( string $rest, array $args ): array {
		return array_map( array( Index_Row::class, 'hydrate' ), $this->connection->records( 'SELECT * FROM ' . Table::name() . " $rest", $args ) );
	}

	/**
	 * Returns the first value of the first record; null when there is none.
	 *
	 * @param string $sql  Statement.
	 * @param array  $args Values.
	 */
	private function value( string $sql, array $args = array() ): ?string {
		$record = $this->connection->records( $sql, $args )[0] ?? array( null );
		return reset( $record );
	}
}
