<?php
/**
 * Is everything well?
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions;

/**
 * Checks the WordPress side, then asks the sidecar for its own checks.
 */
final class Doctor {

	private const OK      = 'ok';
	private const WARNING = 'warning';
	private const ERROR   = 'error';

	/**
	 * The rows.
	 *
	 * @var Index
	 */
	private Index $index;

	/**
	 * Their events.
	 *
	 * @var Outbox
	 */
	private Outbox $outbox;

	/**
	 * Sets what is looked at.
	 *
	 * @param Index  $index  The rows.
	 * @param Outbox $outbox Their events.
	 */
	public function __construct( Index $index, Outbox $outbox ) {
		$this->index  = $index;
		$this->outbox = $outbox;
	}

	/**
	 * Returns a doctor for this site.
	 */
	public static function create(): self {
		$connection = new Connection();
		return new self( new Index( $connection ), new Outbox( $connection ) );
	}

	/**
	 * Returns what was checked.
	 *
	 * @return array<int, array{check: string, status: string, message: string}> status is ok, warning or error.
	 */
	public function checks(): array {
		$checks = array( self::check( 'table', fn(): array => $this->table() ) );
		if ( self::OK === $checks[0]['status'] ) {
			$checks[] = self::check( 'events', fn(): array => $this->events() );
		}
		$checks[] = self::check( 'schedule', fn(): array => $this->schedule() );
		$checks[] = self::check( 'last pass', fn(): array => $this->last_pass() );
		$sidecar  = new Sidecar();
		$checks[] = self::check( 'sidecar', fn(): array => $this->sidecar( $sidecar ) );
		try {
			return array_merge( $checks, $sidecar->items( 'doctor' ) );
		} catch ( Sidecar_Error $error ) {
			return $checks;
		} finally {
			$sidecar->close();
		}
	}

	/**
	 * Returns green, yellow or red.
	 *
	 * @param array[] $checks As checks() returned them.
	 */
	public static function health( array $checks ): string {
		$found = array_column( $checks, 'status' );
		if ( in_array( self::ERROR, $found, true ) ) {
			return 'red';
		}
		return in_array( self::WARNING, $found, true ) ? 'yellow' : 'green';
	}

	/**
	 * Returns a check.
	 *
	 * @param string   $name Name.
	 * @param callable $look Returns status and message, or throws Sidecar_Error.
	 * @return array{check: string, status: string, message: string}
	 */
	private static function check( string $name, callable $look ): array {
		try {
			list( $status, $message ) = $look();
		} catch ( Sidecar_Error $error ) {
			list( $status, $message ) = array( self::ERROR, $error->getMessage() );
		}
		return array(
			'check'   => $name,
			'status'  => $status,
			'message' => $message,
		);
	}

	/**
	 * Looks at the table.
	 *
	 * @return array{string, string}
	 */
	private function table(): array {
		$missing = Table::missing_parts();
		if ( $missing ) {
			/* translators: 1: name of a database table, 2: names of columns and keys. */
			return array( self::ERROR, Table::failure() ?? sprintf( __( '%1$s lacks %2$s. "wp coding-agents sessions reindex" mends it.', 'coding-agents-sessions' ), Table::name(), implode( ', ', $missing ) ) );
		}
		/* translators: 1: name of a database table, 2: number of rows. */
		return array( self::OK, sprintf( __( '%1$s has %2$d rows.', 'coding-agents-sessions' ), Table::name(), $this->index->count( new Criteria( array( 'all' => true ) ) ) ) );
	}

	/**
	 * Looks at the events.
	 *
	 * @return array{string, string}
	 */
	private function events(): array {
		list( 'parked' => $parked, 'pending' => $pending ) = $this->outbox->counts();
		/* translators: 1 and 2: numbers of sessions. */
		return array( $parked ? self::WARNING : self::OK, sprintf( __( '%1$d sessions wait to be announced, %2$d are parked because a listener ended PHP each time.', 'coding-agents-sessions' ), $pending, $parked ) );
	}

	/**
	 * Looks at the schedule.
	 *
	 * @return array{string, string}
	 */
	private function schedule(): array {
		if ( Cron::is_disabled() ) {
			/* translators: %s: name of a constant. */
			return array( self::OK, sprintf( __( 'Switched off by %s.', 'coding-agents-sessions' ), 'CODING_AGENTS_DISABLE_CRON' ) );
		}
		$failure = State::get( State::CRON_FAILURE, null );
		if ( $failure ) {
			/* translators: 1: a duration such as 3 hours, 2: an error. */
			return array( self::WARNING, sprintf( __( 'The scheduled pass %1$s ago failed: %2$s "wp cron event run --due-now", called by the system, runs it where the sidecar can be reached.', 'coding-agents-sessions' ), human_time_diff( $failure['time'] ), $failure['message'] ) );
		}
		/* translators: %s: a duration such as 1 hour. */
		return array( self::OK, sprintf( __( 'A pass every %s.', 'coding-agents-sessions' ), human_time_diff( 0, Cron::interval() ) ) );
	}

	/**
	 * Looks at the age of the index.
	 *
	 * @return array{string, string}
	 */
	private function last_pass(): array {
		$last = Cron::last_pass();
		if ( ! $last ) {
			return array( self::WARNING, __( 'There was none yet. "wp coding-agents sessions reindex" starts one.', 'coding-agents-sessions' ) );
		}
		/* translators: %s: a duration such as 3 hours. */
		return array( Cron::is_overdue() ? self::WARNING : self::OK, sprintf( __( '%s ago.', 'coding-agents-sessions' ), human_time_diff( $last ) ) );
	}

	/**
	 * Looks at the sidecar.
	 *
	 * @param Sidecar $sidecar The sidecar.
	 * @return array{string, string}
	 * @throws Sidecar_Error SIDECAR_UNAVAILABLE, VERSION_MISMATCH, TIMEOUT.
	 */
	private function sidecar( Sidecar $sidecar ): array {
		list( 'version' => $version, 'host' => $host, 'publisher' => $publisher ) = $sidecar->hello();
		if ( ( State::get( State::PUBLISHERS, array() )[ $host ] ?? $publisher ) !== $publisher ) {
			/* translators: %s: label of a host. */
			return array( self::ERROR, sprintf( __( 'The host label "%s" belongs to another machine, user or home folder.', 'coding-agents-sessions' ), $host ) );
		}
		/* translators: 1: version number, 2: label of a host. */
		return array( self::OK, sprintf( __( 'Version %1$s answers, host label "%2$s".', 'coding-agents-sessions' ), $version, $host ) );
	}
}
