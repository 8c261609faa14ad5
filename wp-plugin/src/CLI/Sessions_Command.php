<?php
/**
 * The command "wp coding-agents sessions".
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions\CLI;

use Coding_Agents\Sessions\Cron;
use Coding_Agents\Sessions\Criteria;
use Coding_Agents\Sessions\Log;
use Coding_Agents\Sessions\Sessions;
use Coding_Agents\Sessions\Sidecar_Error;

/**
 * Lists, reads and indexes the sessions of coding agents.
 *
 * ## EXAMPLES
 *
 *     # Bring the index up to date.
 *     $ wp coding-agents sessions reindex
 *
 *     # Show the sessions of the last week.
 *     $ wp coding-agents sessions list --since=7d
 */
final class Sessions_Command {

	/**
	 * Columns of a table; the other formats show all.
	 */
	private const TABLE = array( 'unified_id', 'project_path', 'started_at', 'status', 'turn_count', 'model', 'token_total', 'cost_usd', 'title' );

	/**
	 * The API.
	 *
	 * @var Sessions
	 */
	private Sessions $sessions;

	/**
	 * Makes the API.
	 */
	public function __construct() {
		$this->sessions = Sessions::create();
	}

	/**
	 * Lists indexed sessions, newest first.
	 *
	 * Filters may hold several values, separated by commas. Titles come from the sidecar and are empty while it is away.
	 *
	 * ## OPTIONS
	 *
	 * [--runtime=<names>]
	 * : Only these runtimes.
	 *
	 * [--project=<path>]
	 * : Only this folder; it and all below it when it ends in "/"; or basename:NAME.
	 *
	 * [--since=<time>]
	 * : Started then or later: Unix seconds, ISO 8601, or an age such as 7d or 12h. Without an offset it is in the site's time zone.
	 *
	 * [--until=<time>]
	 * : Started then or earlier; a bare date includes that day.
	 *
	 * [--model=<names>]
	 * : Only sessions whose last model is one of these.
	 *
	 * [--status=<words>]
	 * : Only these of missing, archived, active, truncated, error, aborted, completed.
	 *
	 * [--kind=<words>]
	 * : Only these of session, subagent; without it, sessions.
	 *
	 * [--host=<labels>]
	 * : Only rows with these host labels; --host= is the host without one.
	 *
	 * [--sort=<key>]
	 * : One of date, cost, turns, tokens. Default: date.
	 *
	 * [--order=<order>]
	 * : One of desc, asc. Default: desc.
	 *
	 * [--limit=<number>]
	 * : At most so many. Default: 100.
	 *
	 * [--all]
	 * : Without a limit, and with sub-agents.
	 *
	 * [--fields=<names>]
	 * : Only these columns, separated by commas.
	 *
	 * [--format=<format>]
	 * : One of table, json, csv, yaml, ids, count. Default: table.
	 *
	 * ## AVAILABLE FIELDS
	 *
	 * A table shows unified_id, project_path, started_at, status, turn_count, model, token_total, cost_usd and title. The
	 * other formats show these and session_id, runtime, host, origin, ended_at, last_activity_at, file_path, file_mtime,
	 * message_count, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_source,
	 * kind and parent_id. Times are Unix seconds there; what is unknown is null.
	 *
	 * ## EXAMPLES
	 *
	 *     # The most expensive sessions of a project and what lies below it.
	 *     $ wp coding-agents sessions list --project=/home/dev/shop/ --sort=cost --limit=2 --fields=unified_id,cost_usd --format=csv
	 *     unified_id,cost_usd
	 *     claude-code:5b1f0d0a-7c1e-4a57-9d55-1f2a3b4c5d6e,3.2
	 *     codex:0198c0de-0000-7000-8000-000000000001,0.41
	 *
	 * @subcommand list
	 *
	 * @param array $args    None.
	 * @param array $options Options.
	 */
	public function list_( array $args, array $options ): void {
		Output::run(
			$options,
			array( 'table', 'json', 'csv', 'yaml', 'ids', 'count' ),
			function ( string $format ) use ( $options ) {
				if ( 'count' === $format ) {
					return $this->show_count( $options );
				}
				$fields = $this->fields( $options, $format );
				$bound  = ( new Criteria( $options ) )->limit ?? PHP_INT_MAX;
				// One more tells whether there are more.
				$limit   = PHP_INT_MAX === $bound ? array() : array( 'limit' => $bound + 1 );
				$printer = new Rows( $format, $fields );
				$shown   = 0;
				$this->sessions->each(
					array( 'titles' => 'ids' !== $format && in_array( 'title', $fields, true ) ) + $limit + $options,
					static function ( array $rows ) use ( $printer, $bound, &$shown ): void {
						$printer->add( array_slice( $rows, 0, $bound - $shown ) );
						$shown += count( $rows );
					}
				);
				$printer->finish();
				$this->warn_if_more( $shown, $bound );
				$this->warn_if_stale( $shown );
				return null;
			}
		);
	}

	/**
	 * Reads a whole session from its source.
	 *
	 * ## OPTIONS
	 *
	 * <id>
	 * : <runtime>:<native id>, or a native id or its beginning, if only one session has it.
	 *
	 * [--host=<label>]
	 * : The host label of its row.
	 *
	 * [--origin=<label>]
	 * : The store it lies in; --origin= is the runtime's default one.
	 *
	 * [--raw]
	 * : With the runtime's own records.
	 *
	 * [--format=<format>]
	 * : One of json (one object), jsonl (the session without its messages, then a message a line). Default: json.
	 *
	 * ## EXAMPLES
	 *
	 *     # Count the messages of a session.
	 *     $ wp coding-agents sessions read claude-code:5b1f0d0a-7c1e-4a57-9d55-1f2a3b4c5d6e | jq '.messages | length'
	 *     42
	 *
	 * @param array $args    The id.
	 * @param array $options Options.
	 */
	public function read( array $args, array $options ): void {
		Output::run(
			$options,
			array( 'json', 'jsonl' ),
			function ( string $format ) use ( $args, $options ) {
				$document = $this->sessions->open( $args[0], $options );
				if ( is_wp_error( $document ) ) {
					return $document;
				}
				foreach ( 'json' === $format ? $document->json() : $document->jsonl() as $bytes ) {
					Output::data( $bytes );
				}
				return null;
			}
		);
	}

	/**
	 * Looks for new and changed sessions, and announces them to other plugins.
	 *
	 * ## OPTIONS
	 *
	 * [--runtime=<names>]
	 * : Only these runtimes, separated by commas.
	 *
	 * [--project=<path>]
	 * : Only this folder; it and all below it when it ends in "/"; or basename:NAME.
	 *
	 * [--full]
	 * : Read every source again, also those that have not changed.
	 *
	 * [--dry-run]
	 * : Say what would change, and change nothing.
	 *
	 * [--format=<format>]
	 * : One of table, json. Default: table.
	 *
	 * ## EXAMPLES
	 *
	 *     $ wp coding-agents sessions reindex --format=json
	 *     {"discovered":12,"indexed":1,"updated":2,"unchanged":9,"missing":0,"failed":[],"skipped_records":0,"elapsed_ms":85,"events":{"fired":3,"failed":0,"parked":0,"pending":0}}
	 *
	 * @param array $args    None.
	 * @param array $options Options.
	 */
	public function reindex( array $args, array $options ): void {
		Output::run(
			$options,
			array( 'table', 'json' ),
			function ( string $format ) use ( $options ) {
				$progress = new Progress();
				$report   = $this->sessions->reindex( $options, 'table' === $format ? array( $progress, 'show' ) : null );
				$progress->finish();
				if ( is_wp_error( $report ) ) {
					return $report;
				}
				if ( $report['events']['parked'] ) {
					/* translators: 1: number of sessions, 2: name of an action. */
					Log::warning( sprintf( __( '%1$d sessions are parked: each time a listener of %2$s was called for them, it ended PHP. They are tried again when they change.', 'coding-agents-sessions' ), $report['events']['parked'], 'wp_coding_agents_session_indexed' ) );
				}
				if ( 'json' === $format ) {
					Output::data( Output::json( $report ) . "\n" );
					return null;
				}
				foreach ( $report['failed'] as $failure ) {
					Output::words( "{$failure['code']} {$failure['runtime']} {$failure['source']}: {$failure['message']}" );
				}
				$report['failed'] = count( $report['failed'] );
				foreach ( $report['events'] as $name => $number ) {
					$report[ "events_$name" ] = $number;
				}
				unset( $report['events'] );
				Output::table( array( $report ), array_keys( $report ) );
				return null;
			}
		);
	}

	/**
	 * Forgets the sessions of this host that nothing on disk holds any more. Their numbers are lost.
	 *
	 * ## OPTIONS
	 *
	 * [--missing]
	 * : Required: forget the sessions whose source is gone.
	 *
	 * [--yes]
	 * : Do not ask.
	 *
	 * [--format=<format>]
	 * : One of ids, json. Default: ids.
	 *
	 * ## EXAMPLES
	 *
	 *     $ wp coding-agents sessions prune --missing --yes
	 *     codex:0198c0de-0000-7000-8000-000000000001
	 *     1 sessions forgotten.
	 *
	 * @param array $args    None.
	 * @param array $options Options.
	 */
	public function prune( array $args, array $options ): void {
		Output::run(
			$options,
			array( 'ids', 'json' ),
			function ( string $format ) use ( $options ) {
				if ( empty( $options['missing'] ) ) {
					throw new Sidecar_Error( 'INVALID_ARGUMENT', __( 'Say what to forget: --missing.', 'coding-agents-sessions' ) );
				}
				if ( empty( $options['yes'] ) && ! $this->confirmed() ) {
					return null;
				}
				$gone = $this->sessions->prune();
				if ( is_wp_error( $gone ) ) {
					return $gone;
				}
				$rows = array_map( static fn( array $row ): array => array( 'unified_id' => $row['runtime'] . ':' . $row['session_id'] ) + $row, $gone );
				Rows::show( $rows, $format, array( 'unified_id', 'runtime', 'origin', 'session_id' ) );
				/* translators: %d: number of sessions. */
				Output::words( sprintf( __( '%d sessions forgotten.', 'coding-agents-sessions' ), count( $rows ) ) );
				return null;
			}
		);
	}

	/**
	 * Returns the columns to print.
	 *
	 * @param array  $options Options.
	 * @param string $format  Format.
	 * @return string[]
	 * @throws Sidecar_Error INVALID_ARGUMENT: there is no such column.
	 */
	private function fields( array $options, string $format ): array {
		if ( ! isset( $options['fields'] ) ) {
			return 'table' === $format ? self::TABLE : Sessions::FIELDS;
		}
		$fields = array_filter( Criteria::names( $options, 'fields' ), 'strlen' );
		$wrong  = array_diff( $fields, Sessions::FIELDS );
		if ( $wrong || ! $fields ) {
			/* translators: 1: name that was given, 2: names of columns. */
			throw new Sidecar_Error( 'INVALID_ARGUMENT', sprintf( __( 'There is no field "%1$s". Fields: %2$s.', 'coding-agents-sessions' ), (string) reset( $wrong ), implode( ', ', Sessions::FIELDS ) ) );
		}
		return $fields;
	}

	/**
	 * Prints how many sessions a list has.
	 *
	 * @param array $options Options.
	 * @return \WP_Error|null
	 */
	private function show_count( array $options ) {
		$bound = ( new Criteria( $options + array( 'all' => true ) ) )->limit ?? PHP_INT_MAX;
		$count = $this->sessions->count( $options );
		if ( is_wp_error( $count ) ) {
			return $count;
		}
		Output::data( min( $count, $bound ) . "\n" );
		$this->warn_if_more( $count, $bound );
		$this->warn_if_stale( $count );
		return null;
	}

	/**
	 * Says when there are more sessions than the limit lets through.
	 *
	 * @param int $found Rows that were found.
	 * @param int $bound At most so many were shown.
	 */
	private function warn_if_more( int $found, int $bound ): void {
		if ( $found > $bound ) {
			/* translators: %d: number of sessions. */
			Output::words( sprintf( __( 'There are more than these %d: --limit=N or --all shows them.', 'coding-agents-sessions' ), $bound ) );
		}
	}

	/**
	 * Says when the list may be outdated.
	 *
	 * @param int $found Rows that were found: other hosts may publish to a site that indexes nothing itself.
	 */
	private function warn_if_stale( int $found ): void {
		$last = Cron::last_pass();
		if ( $last && Cron::is_overdue() ) {
			/* translators: %s: a duration such as 3 days. */
			Log::warning( sprintf( __( 'The sessions were indexed %s ago. "wp coding-agents sessions reindex" brings the list up to date.', 'coding-agents-sessions' ), human_time_diff( $last ) ) );
		} elseif ( ! $last && ! $found && 0 === $this->sessions->count( array( 'all' => true ) ) ) {
			Log::warning( __( 'Nothing was indexed yet. "wp coding-agents sessions reindex" does it.', 'coding-agents-sessions' ) );
		}
	}

	/**
	 * Asks whether to forget.
	 *
	 * @throws Sidecar_Error INVALID_ARGUMENT: there is nobody to ask. Any other code.
	 */
	private function confirmed(): bool {
		if ( ! stream_isatty( STDIN ) ) {
			throw new Sidecar_Error( 'INVALID_ARGUMENT', __( 'There is no terminal to ask on: --yes is needed.', 'coding-agents-sessions' ) );
		}
		$count = $this->sessions->prunable();
		if ( is_wp_error( $count ) ) {
			throw new Sidecar_Error( $count->get_error_code(), $count->get_error_message() );
		}
		/* translators: %d: number of sessions. */
		fwrite( STDERR, sprintf( __( 'Forget %d sessions? [y/N]', 'coding-agents-sessions' ), $count ) . ' ' );
		return 'y' === strtolower( trim( (string) fgets( STDIN ) ) );
	}
}
