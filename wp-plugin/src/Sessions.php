<?php
/**
 * The API for other plugins.
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions;

/**
 * Lists, reads and indexes sessions. Every method returns a WP_Error where it fails; its code is one of schema/errors.json.
 *
 *     $rows = \Coding_Agents\Sessions\Sessions::create()->list( array( 'runtime' => 'codex', 'since' => '7d' ) );
 */
final class Sessions {

	/**
	 * Columns of a list, in order.
	 */
	public const FIELDS = array(
		'session_id',
		'unified_id',
		'runtime',
		'host',
		'origin',
		'project_path',
		'started_at',
		'ended_at',
		'last_activity_at',
		'file_path',
		'file_mtime',
		'message_count',
		'turn_count',
		'model',
		'token_total',
		'input_tokens',
		'output_tokens',
		'cache_read_tokens',
		'cache_write_tokens',
		'reasoning_tokens',
		'cost_usd',
		'cost_source',
		'status',
		'kind',
		'parent_id',
		'title',
	);

	/**
	 * The rows.
	 *
	 * @var Index
	 */
	private Index $index;

	/**
	 * Who reads sessions.
	 *
	 * @var Sidecar
	 */
	private Sidecar $sidecar;

	/**
	 * Names of runtimes.
	 *
	 * @var Runtimes
	 */
	private Runtimes $runtimes;

	/**
	 * Finds the row of an id.
	 *
	 * @var Lookup
	 */
	private Lookup $lookup;

	/**
	 * Brings the table up to the ledger.
	 *
	 * @var Publisher
	 */
	private Publisher $publisher;

	/**
	 * Announces changes.
	 *
	 * @var Events
	 */
	private Events $events;

	/**
	 * Sets what the methods work with; see create().
	 *
	 * @param Index   $index   The rows.
	 * @param Sidecar $sidecar Who reads sessions.
	 * @param Events  $events  Announces changes.
	 */
	public function __construct( Index $index, Sidecar $sidecar, Events $events ) {
		$this->index     = $index;
		$this->sidecar   = $sidecar;
		$this->runtimes  = new Runtimes( $index, $sidecar );
		$this->lookup    = new Lookup( $index, $this->runtimes );
		$this->publisher = new Publisher( $index, $sidecar );
		$this->events    = $events;
	}

	/**
	 * Returns the API on the site's database.
	 */
	public static function create(): self {
		$connection = new Connection();
		return new self( new Index( $connection ), new Sidecar(), new Events( new Outbox( $connection ) ) );
	}

	/**
	 * Returns rows of the index, newest first.
	 *
	 * @param array $args The options of "wp coding-agents sessions list": runtime, project, since, until, model, status,
	 *                    kind, host, sort, order, limit, all. With titles => true each row has its title, where a sidecar
	 *                    can be asked; otherwise it is null, since titles are content and not stored.
	 * @return array[]|\WP_Error FIELDS each.
	 */
	public function list( array $args = array() ) {
		return $this->attempt(
			function () use ( $args ): array {
				$found = array();
				$this->each(
					$args,
					static function ( array $rows ) use ( &$found ): void {
						$found = array_merge( $found, $rows );
					}
				);
				return $found;
			}
		);
	}

	/**
	 * Goes through the rows of list(), some at a time.
	 *
	 * @param array    $args    As for list().
	 * @param callable $on_rows Gets a list of rows, FIELDS each.
	 * @throws Sidecar_Error INVALID_ARGUMENT, AGENT_NOT_FOUND, INDEX_UNAVAILABLE.
	 */
	public function each( array $args, callable $on_rows ): void {
		$titles = empty( $args['titles'] ) ? null : new Titles( $this->sidecar );
		try {
			$this->index->each(
				$this->criteria( $args ),
				static function ( array $rows ) use ( $titles, $on_rows ): void {
					$found = $titles ? $titles->of( $rows ) : array();
					foreach ( $rows as $number => $row ) {
						$row['unified_id'] = Index_Row::unified_id( $row );
						$row['title']      = $found[ $number ] ?? null;
						$rows[ $number ]   = array_replace( array_fill_keys( self::FIELDS, null ), array_intersect_key( $row, array_flip( self::FIELDS ) ) );
					}
					$on_rows( $rows );
				}
			);
		} finally {
			$this->sidecar->close();
		}
	}

	/**
	 * Returns how many rows list() would return if it had no limit.
	 *
	 * @param array $args As for list().
	 * @return int|\WP_Error
	 */
	public function count( array $args = array() ) {
		return $this->attempt( fn(): int => $this->index->count( $this->criteria( $args ) ) );
	}

	/**
	 * Returns the row of one session.
	 *
	 * @param string $id   <runtime>:<native id>, or a native id, or the beginning of one that fits a single session.
	 * @param array  $args host and origin, where the id lies in several.
	 * @return array|\WP_Error The columns that listeners of wp_coding_agents_session_indexed get.
	 */
	public function get( string $id, array $args = array() ) {
		return $this->attempt(
			function () use ( $id, $args ): array {
				$row = $this->lookup->find( $id, $args );
				if ( ! $row ) {
					throw Lookup::not_found( $id );
				}
				return Index_Row::public( $row );
			}
		);
	}

	/**
	 * Reads a whole session from its source. Announces it as wp_coding_agents_session_parsed.
	 *
	 * @param string $id   As for get().
	 * @param array  $args host and origin; raw => true adds the runtime's own records.
	 * @return array|\WP_Error The session: its head, and messages.
	 */
	public function read( string $id, array $args = array() ) {
		return $this->attempt(
			function () use ( $id, $args ): array {
				$session = $this->document( $id, $args )->to_array();
				$this->announce( $session );
				return $session;
			}
		);
	}

	/**
	 * Reads a whole session as bytes. Announces it only if anybody listens, since that takes it into memory.
	 *
	 * @param string $id   As for get().
	 * @param array  $args As for read().
	 * @return Session_Document|\WP_Error
	 */
	public function open( string $id, array $args = array() ) {
		return $this->attempt(
			function () use ( $id, $args ): Session_Document {
				$document = $this->document( $id, $args );
				if ( has_action( 'wp_coding_agents_session_parsed' ) ) {
					$this->announce( $document->to_array() );
				}
				return $document;
			}
		);
	}

	/**
	 * Looks for new and changed sessions, writes their rows and announces them.
	 *
	 * @param array         $args        runtime, project, full, dry-run.
	 * @param callable|null $on_progress Gets how many sources are done and how many there are.
	 * @return array|\WP_Error The report of "wp coding-agents sessions reindex --format=json".
	 */
	public function reindex( array $args = array(), ?callable $on_progress = null ) {
		return $this->attempt(
			function () use ( $args, $on_progress ): array {
				$report = $this->publisher->reindex( $args, $on_progress );
				return $report + array( 'events' => empty( $args['dry-run'] ) ? $this->events->drain() : $this->events->waiting() );
			}
		);
	}

	/**
	 * Announces what is pending, without looking for more.
	 *
	 * @param int|null $seconds Stop after so many; null for no limit.
	 * @return array|\WP_Error fired, failed, parked, pending.
	 */
	public function drain( ?int $seconds = null ) {
		return $this->attempt( fn(): array => $this->events->drain( $seconds ) );
	}

	/**
	 * Forgets the sessions of this host whose source is gone.
	 *
	 * @return array[]|\WP_Error runtime, origin and session_id of each.
	 */
	public function prune() {
		return $this->attempt( array( $this->publisher, 'prune' ) );
	}

	/**
	 * Returns how many rows prune() would take from the table.
	 *
	 * @return int|\WP_Error
	 */
	public function prunable() {
		return $this->attempt( array( $this->publisher, 'prunable' ) );
	}

	/**
	 * Returns what a function returns, or the error it ends in. No sidecar outlives it.
	 *
	 * @param callable $work Throws Sidecar_Error.
	 * @return mixed
	 */
	private function attempt( callable $work ) {
		try {
			return $work();
		} catch ( Sidecar_Error $error ) {
			return $error->to_wp_error();
		} finally {
			$this->sidecar->close();
		}
	}

	/**
	 * Returns the criteria of a list, with canonical names of runtimes.
	 *
	 * @param array $args As for list().
	 * @throws Sidecar_Error INVALID_ARGUMENT, AGENT_NOT_FOUND, INDEX_UNAVAILABLE.
	 */
	private function criteria( array $args ): Criteria {
		$criteria           = new Criteria( $args );
		$criteria->runtimes = array_map( array( $this->runtimes, 'canonical' ), $criteria->runtimes );
		return $criteria;
	}

	/**
	 * Reads a session.
	 *
	 * @param string $id   As for get().
	 * @param array  $args As for read().
	 * @throws Sidecar_Error Any code.
	 */
	private function document( string $id, array $args ): Session_Document {
		$row  = $this->lookup->find( $id, $args );
		$here = $this->sidecar->hello()['host'];
		$host = $row ? $row['host'] : $args['host'] ?? $here;
		if ( $host !== $here ) {
			/* translators: 1: id of a session, 2: label of a host. */
			throw new Sidecar_Error( 'SESSION_NOT_FOUND', sprintf( __( '%1$s can only be read on its host "%2$s".', 'coding-agents-sessions' ), $id, $host ) );
		}
		if ( ! $row && ! strpos( $id, ':' ) ) {
			throw Lookup::not_found( $id );
		}
		// What is not indexed yet, the sidecar may find all the same.
		list( $runtime, $session_id ) = $row ? array( $row['runtime'], $row['session_id'] ) : explode( ':', $id, 2 );
		return new Session_Document(
			$this->sidecar,
			array(
				'runtime'    => $runtime,
				'session_id' => $session_id,
				'origin'     => $row ? $row['origin'] : $args['origin'] ?? null,
				'raw'        => ! empty( $args['raw'] ),
			)
		);
	}

	/**
	 * Announces a session that was read.
	 *
	 * @param array $session The session.
	 */
	private function announce( array $session ): void {
		try {
			/**
			 * Fires once for every explicit read of a whole session; never while sessions are indexed.
			 *
			 * @param array $session session_id, runtime, project_path, started_at and the other fields of a list; messages,
			 *                       each with id, role, content, tool_calls, tool_result, timestamp; and meta. For example:
			 *                       array( 'session_id' => '5b1f0d0a-…', …, 'messages' => array( array( 'id' => 'm0',
			 *                       'role' => 'user', 'content' => 'Hello', … ), … ), 'meta' => array( 'model' => … ) ).
			 */
			do_action( 'wp_coding_agents_session_parsed', $session );
		} catch ( \Throwable $error ) {
			Log::listener_failed( 'wp_coding_agents_session_parsed', $session, $error );
		}
	}
}
