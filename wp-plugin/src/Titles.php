<?php
/**
 * Titles of sessions.
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions;

/**
 * Fetches titles for display. A title is content: the database never holds it.
 */
final class Titles {

	/**
	 * Where to ask; null when it is away, and then there are no titles.
	 *
	 * @var Sidecar|null
	 */
	private ?Sidecar $sidecar;

	/**
	 * Sets the sidecar.
	 *
	 * @param Sidecar $sidecar Where to ask.
	 */
	public function __construct( Sidecar $sidecar ) {
		$this->sidecar = $sidecar;
	}

	/**
	 * Returns the titles of rows, null for those that are unknown or lie on another host.
	 *
	 * @param array[] $rows Rows of the index.
	 * @return array<int, string|null>
	 */
	public function of( array $rows ): array {
		if ( ! $this->sidecar ) {
			return array();
		}
		try {
			$host  = $this->sidecar->hello()['host'];
			$own   = array_filter( $rows, static fn( array $row ): bool => $row['host'] === $host );
			$names = array_map( static fn( array $row ): array => array( $row['runtime'], $row['origin'], $row['session_id'] ), array_values( $own ) );
			return array_combine( array_keys( $own ), $this->sidecar->items( 'titles', array( 'sessions' => $names ) ) );
		} catch ( Sidecar_Error $error ) {
			$this->sidecar = null;
			return array();
		}
	}
}
