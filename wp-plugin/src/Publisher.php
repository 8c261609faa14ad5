<?php
/**
 * From the sidecar's ledger to the table.
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions;

/**
 * Runs a pass and brings the table up to it. The table itself says what it lacks: everything above its highest revision.
 */
final class Publisher {

	/**
	 * Rows a request: even with the longest paths they stay below the 16 MiB that a request may have.
	 */
	private const ADOPTED = 100;

	/**
	 * The rows.
	 *
	 * @var Index
	 */
	private Index $index;

	/**
	 * Where the ledger is.
	 *
	 * @var Sidecar
	 */
	private Sidecar $sidecar;

	/**
	 * Rows that wait to be written.
	 *
	 * @var array[]
	 */
	private array $batch = array();

	/**
	 * Sets index and sidecar.
	 *
	 * @param Index   $index   The rows.
	 * @param Sidecar $sidecar Where the ledger is.
	 */
	public function __construct( Index $index, Sidecar $sidecar ) {
		$this->index   = $index;
		$this->sidecar = $sidecar;
	}

	/**
	 * Looks for new and changed sessions and writes their rows.
	 *
	 * @param array         $args        runtime (list or text with commas), project, full, dry-run.
	 * @param callable|null $on_progress Gets how many sources are done and how many there are.
	 * @return array The report of the pass, as "sessions reindex --format=json" shows it.
	 * @throws Sidecar_Error Any code.
	 */
	public function reindex( array $args, ?callable $on_progress = null ): array {
		Criteria::require_text( $args );
		$runtimes = Criteria::names( $args, 'runtime' );
		$project  = $args['project'] ?? null;
		$dry_run  = ! empty( $args['dry-run'] );
		$publish  = $dry_run ? null : $this->target();

		$end = $this->sidecar->call(
			'reindex',
			array(
				'runtime' => $runtimes ? $runtimes : null,
				'project' => $project,
				'full'    => ! empty( $args['full'] ),
				'dry_run' => $dry_run,
				'publish' => $publish,
			),
			array( $this, 'write' ),
			$on_progress
		)['end'];
		$this->flush();
		if ( ! $dry_run && isset( $end['floor'] ) ) {
			$this->adopt( $end['floor'] );
		}
		if ( ! $dry_run && ! $runtimes && null === $project ) {
			State::set( State::LAST_PASS, time() );
		}
		return $end['report'];
	}

	/**
	 * Forgets the sessions of this host whose source is gone: in the ledger, then in the table, also those that the ledger
	 * had forgotten before. A crash between the two is mended by the next call.
	 *
	 * @return array[] runtime, origin and session_id of each.
	 * @throws Sidecar_Error Any code.
	 */
	public function prune(): array {
		$this->target();
		$host = $this->sidecar->hello()['host'];
		$gone = array();
		foreach ( $this->sidecar->items( 'prune', array( 'sessions' => null ) ) as list( $runtime, $origin, $session_id ) ) {
			$gone[ Index_Row::key( $host, $origin, $runtime, $session_id ) ] = compact( 'runtime', 'origin', 'session_id' );
		}
		$this->index->each(
			$this->missing(),
			static function ( array $rows ) use ( &$gone ): void {
				foreach ( $rows as list( 'session_key' => $key, 'runtime' => $runtime, 'origin' => $origin, 'session_id' => $session_id ) ) {
					$gone[ $key ] = compact( 'runtime', 'origin', 'session_id' );
				}
			}
		);
		$this->index->delete( array_keys( $gone ) );
		return array_values( $gone );
	}

	/**
	 * Returns how many rows prune() would take from the table.
	 *
	 * @throws Sidecar_Error Any code.
	 */
	public function prunable(): int {
		return $this->index->count( $this->missing() );
	}

	/**
	 * Returns the criteria of this host's rows whose source is gone.
	 *
	 * @throws Sidecar_Error Any code.
	 */
	private function missing(): Criteria {
		return new Criteria(
			array(
				'all'    => true,
				'status' => 'missing',
				'host'   => array( $this->sidecar->hello()['host'] ),
			)
		);
	}

	/**
	 * Takes a row to be written.
	 *
	 * @param string $item The row as JSON.
	 * @throws Sidecar_Error INDEX_UNAVAILABLE, INTERNAL_ERROR.
	 */
	public function write( string $item ): void {
		$this->batch[] = json_decode( $item, true );
		if ( count( $this->batch ) >= Index::BATCH ) {
			$this->flush();
		}
	}

	/**
	 * Writes the rows that wait.
	 *
	 * @throws Sidecar_Error INDEX_UNAVAILABLE, INTERNAL_ERROR.
	 */
	private function flush(): void {
		$this->index->upsert( $this->batch );
		$this->batch = array();
	}

	/**
	 * Returns where to publish, after making sure that there is a table and that the host's label is this sidecar's.
	 *
	 * @return array{table: string, revision: int, database: array|null}
	 * @throws Sidecar_Error INDEX_UNAVAILABLE, INVALID_ARGUMENT.
	 */
	private function target(): array {
		Table::ensure();
		list( 'host' => $host, 'publisher' => $publisher ) = $this->sidecar->hello();
		$publishers = State::get( State::PUBLISHERS, array() );
		if ( ( $publishers[ $host ] ?? $publisher ) !== $publisher ) {
			throw new Sidecar_Error(
				'INVALID_ARGUMENT',
				sprintf(
					/* translators: 1: label of a host, 2: name of an environment variable, 3: a command. */
					__( 'Another machine, user or home folder already publishes sessions under the host label "%1$s". Give this one a label of its own in %2$s. Only if it has taken the place of the other: %3$s.', 'coding-agents-sessions' ),
					$host,
					'CODING_AGENTS_HOST',
					sprintf( 'wp %s delete %s', is_multisite() ? 'site option' : 'option', State::PUBLISHERS )
				)
			);
		}
		if ( ! isset( $publishers[ $host ] ) ) {
			State::set( State::PUBLISHERS, array( $host => $publisher ) + $publishers );
		}
		return array(
			'table'    => Table::name(),
			'revision' => $this->index->revision( $host ),
			'database' => Database::credentials(),
		);
	}

	/**
	 * Gives rows that a new ledger does not know to the sidecar, which has them come back as missing: no row is lost with a ledger.
	 *
	 * @param int $floor The ledger knows no row of this host with a lower revision.
	 * @throws Sidecar_Error Any code.
	 */
	private function adopt( int $floor ): void {
		$this->index->each_below(
			$this->sidecar->hello()['host'],
			$floor,
			function ( array $rows ): void {
				foreach ( array_chunk( array_map( array( Index_Row::class, 'wire' ), $rows ), self::ADOPTED ) as $some ) {
					$this->sidecar->call( 'adopt', array( 'rows' => $some ), array( $this, 'write' ) );
				}
				$this->flush();
			}
		);
	}
}
