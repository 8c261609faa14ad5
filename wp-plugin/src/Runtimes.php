<?php
/**
 * Names of runtimes.
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions;

/**
 * Turns other names of runtimes, which only the sidecar knows, into canonical ones.
 */
final class Runtimes {

	/**
	 * The rows.
	 *
	 * @var Index
	 */
	private Index $index;

	/**
	 * Who knows the runtimes.
	 *
	 * @var Sidecar
	 */
	private Sidecar $sidecar;

	/**
	 * Name or alias => canonical name; null until it is needed, and empty when the sidecar is away.
	 *
	 * @var array<string, string>|null
	 */
	private ?array $names = null;

	/**
	 * Sets index and sidecar.
	 *
	 * @param Index   $index   The rows.
	 * @param Sidecar $sidecar Who knows the runtimes.
	 */
	public function __construct( Index $index, Sidecar $sidecar ) {
		$this->index   = $index;
		$this->sidecar = $sidecar;
	}

	/**
	 * Returns the canonical name of a runtime. Asks the sidecar only for one that no row has; while it is away, a name
	 * stands for itself.
	 *
	 * @param string $name Name or alias.
	 * @throws Sidecar_Error AGENT_NOT_FOUND, INDEX_UNAVAILABLE.
	 */
	public function canonical( string $name ): string {
		if ( $this->index->has_runtime( $name ) ) {
			return $name;
		}
		$this->names = $this->names ?? $this->ask();
		if ( $this->names && ! isset( $this->names[ $name ] ) ) {
			/* translators: 1: what was asked for, 2: names of runtimes. */
			throw new Sidecar_Error( 'AGENT_NOT_FOUND', sprintf( __( 'There is no runtime "%1$s". Known ones: %2$s.', 'coding-agents-sessions' ), $name, implode( ', ', array_unique( $this->names ) ) ) );
		}
		return $this->names[ $name ] ?? $name;
	}

	/**
	 * Asks the sidecar for its names.
	 *
	 * @return array<string, string>
	 */
	private function ask(): array {
		$names = array();
		try {
			foreach ( $this->sidecar->items( 'runtimes' ) as $runtime ) {
				foreach ( array_merge( array( $runtime['name'] ), $runtime['aliases'] ) as $name ) {
					$names[ $name ] = $runtime['name'];
				}
			}
		} catch ( Sidecar_Error $error ) {
			/* translators: %s: an error. */
			Log::warning( sprintf( __( 'Names of runtimes are taken literally, since nobody knows others: %s', 'coding-agents-sessions' ), $error->getMessage() ) );
			return array();
		}
		return $names;
	}
}
