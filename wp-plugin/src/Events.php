<?php
/**
 * Announcing new and changed sessions.
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions;

/**
 * Fires wp_coding_agents_session_indexed at least once for every new or changed row.
 */
final class Events {

	private const ACTION = 'wp_coding_agents_session_indexed';

	/**
	 * Where pending rows are found.
	 *
	 * @var Outbox
	 */
	private Outbox $outbox;

	/**
	 * Rows announced by the drain at work.
	 *
	 * @var int
	 */
	private int $fired = 0;

	/**
	 * Those of them with a listener that threw.
	 *
	 * @var int
	 */
	private int $failed = 0;

	/**
	 * The row that is being announced.
	 *
	 * @var array|null
	 */
	private ?array $row = null;

	/**
	 * Sets the outbox.
	 *
	 * @param Outbox $outbox Where pending rows are found.
	 */
	public function __construct( Outbox $outbox ) {
		$this->outbox = $outbox;
	}

	/**
	 * Announces pending rows in the order of their changes, unless another process is doing it. Each is tried once a call.
	 *
	 * @param int|null $seconds Stop after so many; null for no limit.
	 * @return array{fired: int, failed: int, parked: int, pending: int} fired counts the rows announced, failed those
	 *                                                                    of them with a listener that threw.
	 * @throws Sidecar_Error INDEX_UNAVAILABLE.
	 */
	public function drain( ?int $seconds = null ): array {
		$this->fired  = 0;
		$this->failed = 0;
		// The table is shared by a network, its listeners are not: they belong to the main site.
		$lease = is_main_site() ? Lease::acquire() : null;
		if ( $lease ) {
			register_shutdown_function( array( $this, 'ended' ), $lease );
			// After a fatal error WP-CLI does not get as far as that function.
			add_filter(
				'wp_php_error_args',
				function ( array $args ) use ( $lease ): array {
					$this->ended( $lease );
					return $args;
				}
			);
			if ( has_action( self::ACTION ) ) {
				$this->fire_all( $lease, null === $seconds ? INF : microtime( true ) + $seconds );
			} else {
				$this->fired = $this->outbox->delivered_all();
			}
			$lease->release();
		}
		return $this->waiting();
	}

	/**
	 * Returns what drain() returns, without doing anything.
	 *
	 * @return array{fired: int, failed: int, parked: int, pending: int}
	 * @throws Sidecar_Error INDEX_UNAVAILABLE.
	 */
	public function waiting(): array {
		return array(
			'fired'  => $this->fired,
			'failed' => $this->failed,
		) + $this->outbox->counts();
	}

	/**
	 * Announces pending rows one by one.
	 *
	 * @param Lease $lease    Stop when it is lost.
	 * @param float $deadline Stop then; Unix seconds.
	 * @throws Sidecar_Error INDEX_UNAVAILABLE.
	 */
	private function fire_all( Lease $lease, float $deadline ): void {
		list( $revision, $key ) = array( -1, '' );
		while ( $rows = $this->outbox->next( $revision, $key ) ) {
			foreach ( $rows as $row ) {
				if ( microtime( true ) >= $deadline || ! $lease->hold() ) {
					return;
				}
				if ( $this->outbox->claim( $row ) ) {
					$this->fire( $row );
					$this->outbox->delivered( $row );
				}
				list( $revision, $key ) = array( $row['revision'], $row['session_key'] );
			}
		}
	}

	/**
	 * Announces a row. A listener that throws has had it: to try again would repeat what other listeners did.
	 *
	 * @param array $row Every column of the table.
	 */
	private function fire( array $row ): void {
		$this->row = $row;
		++$this->fired;
		try {
			/**
			 * Fires after a session was added to the index or its row changed. Changes that follow each other quickly
			 * may be announced as one, and a crash may repeat the last announcement, so listeners should tolerate both.
			 *
			 * @param array $row Columns of schema/index-row.schema.json without bookkeeping; times in Unix seconds,
			 *                   unknown values null. For example: array( 'session_key' => '9f2c…', 'session_id' =>
			 *                   '5b1f0d0a-…', 'runtime' => 'claude-code', …, 'turn_count' => 12, 'cost_usd' => 0.84, … ).
			 */
			do_action( 'wp_coding_agents_session_indexed', Index_Row::public( $row ) );
		} catch ( \Throwable $error ) {
			++$this->failed;
			Log::listener_failed( self::ACTION, $row, $error );
		}
		$this->row = null;
	}

	/**
	 * Gives the lease back when a listener ended PHP, and says which row it was about.
	 *
	 * @param Lease $lease What the drain holds.
	 */
	public function ended( Lease $lease ): void {
		$lease->release();
		if ( $this->row ) {
			Log::warning(
				sprintf(
					/* translators: 1: name of an action, 2: id of a session. */
					__( 'A listener of %1$s ended PHP while it handled %2$s.', 'coding-agents-sessions' ),
					self::ACTION,
					Index_Row::unified_id( $this->row )
				)
			);
			$this->row = null;
		}
	}
}
