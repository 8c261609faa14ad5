<?php
/**
 * Progress on a terminal.
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions\CLI;

/**
 * Draws a progress bar where standard output is a terminal, and nothing elsewhere.
 */
final class Progress {

	/**
	 * The bar; null while the total is unknown.
	 *
	 * @var \cli\progress\Bar|\WP_CLI\NoOp|null
	 */
	private $bar = null;

	/**
	 * How much the bar shows.
	 *
	 * @var int
	 */
	private int $done = 0;

	/**
	 * Shows how far the work is.
	 *
	 * @param int $done  So much is done.
	 * @param int $total So much there is.
	 */
	public function show( int $done, int $total ): void {
		$this->bar = $this->bar ?? \WP_CLI\Utils\make_progress_bar( __( 'Reading sessions', 'coding-agents-sessions' ), $total );
		$this->bar->tick( $done - $this->done );
		$this->done = $done;
	}

	/**
	 * Leaves the line of the bar.
	 */
	public function finish(): void {
		if ( $this->bar ) {
			$this->bar->finish();
		}
	}
}
