<?php
/**
 * The events of the session index.
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions;

/**
 * The rows whose newest change was not announced yet. Every method throws Sidecar_Error INDEX_UNAVAILABLE when the
 * database refuses.
 */
final class Outbox {

	/**
	 * A row whose listener ended PHP so often is parked until it changes again.
	 */
	public const MAX_ATTEMPTS = 3;

	/**
	 * Rows read at a time.
	 */
	private const BATCH = 100;

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
	 * Returns the next pending rows that are not parked, in the order of revisions.
	 *
	 * @param int    $revision After this revision,
	 * @param string $key      or at it and after this session_key.
	 * @return array[]
	 */
	public function next( int $revision, string $key ): array {
		$found = $this->connection->records(
			'SELECT * FROM ' . Table::name() . ' WHERE event_pending = 1 AND event_attempts < %d'
			. ' AND (revision > %d OR (revision = %d AND session_key > %s)) ORDER BY revision, session_key LIMIT %d',
			array( self::MAX_ATTEMPTS, $revision, $revision, $key, self::BATCH )
		);
		return array_map( array( Index_Row::class, 'hydrate' ), $found );
	}

	/**
	 * Counts an attempt before it is made, so that one that ends PHP counts, too; false when the row is another one by now.
	 *
	 * @param array $row As next() returned it.
	 */
	public function claim( array $row ): bool {
		return 1 === $this->connection->write(
			'UPDATE ' . Table::name() . ' SET event_attempts = event_attempts + 1 WHERE session_key = %s AND revision = %d AND event_pending = 1 AND event_attempts = %d',
			array( $row['session_key'], $row['revision'], $row['event_attempts'] )
		);
	}

	/**
	 * Takes note that a row was announced. If it has changed in the meantime, its event stays pending.
	 *
	 * @param array $row As next() returned it.
	 */
	public function delivered( array $row ): void {
		$this->connection->write(
			'UPDATE ' . Table::name() . ' SET event_pending = CASE WHEN revision = %d THEN 0 ELSE event_pending END, event_attempts = 0 WHERE session_key = %s',
			array( $row['revision'], $row['session_key'] )
		);
	}

	/**
	 * Takes note that all rows but the parked ones were announced, to nobody; returns how many.
	 */
	public function delivered_all(): int {
		return $this->connection->write( 'UPDATE ' . Table::name() . ' SET event_pending = 0, event_attempts = 0 WHERE event_pending = 1 AND event_attempts < %d', array( self::MAX_ATTEMPTS ) );
	}

	/**
	 * Returns how many rows wait and how many are parked.
	 *
	 * @return array{parked: int, pending: int}
	 */
	public function counts(): array {
		$counts = $this->connection->records(
			'SELECT COUNT(*) AS waiting, SUM(CASE WHEN event_attempts >= %d THEN 1 ELSE 0 END) AS parked FROM ' . Table::name() . ' WHERE event_pending = 1',
			array( self::MAX_ATTEMPTS )
		)[0];
		return array(
			'parked'  => (int) $counts['parked'],
			'pending' => (int) $counts['waiting'] - (int) $counts['parked'],
		);
	}
}
