<?php
/**
 * From an id to a row.
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions;

/**
 * Finds the row that people mean by an id: <runtime>:<native id>, a native id, or the beginning of one.
 */
final class Lookup {

	private const CANDIDATES = 10;

	/**
	 * The rows.
	 *
	 * @var Index
	 */
	private Index $index;

	/**
	 * Names of runtimes.
	 *
	 * @var Runtimes
	 */
	private Runtimes $runtimes;

	/**
	 * Sets what is searched.
	 *
	 * @param Index    $index    The rows.
	 * @param Runtimes $runtimes Names of runtimes.
	 */
	public function __construct( Index $index, Runtimes $runtimes ) {
		$this->index    = $index;
		$this->runtimes = $runtimes;
	}

	/**
	 * Returns the only row that fits; null when none does.
	 *
	 * @param string $id   An id.
	 * @param array  $args host and origin, both optional.
	 * @throws Sidecar_Error INVALID_ARGUMENT, AMBIGUOUS_SESSION, AGENT_NOT_FOUND, INDEX_UNAVAILABLE.
	 */
	public function find( string $id, array $args ): ?array {
		Criteria::require_text( array( $id, $args ) );
		list( $host, $origin ) = array( $args['host'] ?? null, $args['origin'] ?? null );
		// A native id may hold a colon of its own.
		$found = $this->index->named( $id, null, $host, $origin, self::CANDIDATES );
		if ( ! $found && strpos( $id, ':' ) ) {
			list( $runtime, $session_id ) = explode( ':', $id, 2 );
			$found                        = $this->index->named( $session_id, $this->runtimes->canonical( $runtime ), $host, $origin, self::CANDIDATES );
		}
		if ( count( $found ) > 1 ) {
			$names = array_map( array( self::class, 'candidate' ), $found );
			throw new Sidecar_Error(
				'AMBIGUOUS_SESSION',
				/* translators: 1: id of a session, 2: ids that fit. */
				sprintf( __( '%1$s fits several sessions: %2$s. Name the runtime, the whole id, --host or --origin.', 'coding-agents-sessions' ), $id, implode( ', ', $names ) ),
				$names
			);
		}
		return $found ? $found[0] : null;
	}

	/**
	 * Returns the error for an id that nothing has.
	 *
	 * @param string $id An id.
	 */
	public static function not_found( string $id ): Sidecar_Error {
		/* translators: %s: id of a session. */
		return new Sidecar_Error( 'SESSION_NOT_FOUND', sprintf( __( '%s is not among the indexed sessions.', 'coding-agents-sessions' ), $id ) );
	}

	/**
	 * Returns a unified id with what else tells it from others.
	 *
	 * @param array $row A row.
	 */
	private static function candidate( array $row ): string {
		$places = array_map( static fn( string $name ): string => '' === $row[ $name ] ? '' : " ($name '$row[$name]')", array( 'host', 'origin' ) );
		return Index_Row::unified_id( $row ) . implode( '', $places );
	}
}
