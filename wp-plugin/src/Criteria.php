<?php
/**
 * Which sessions to list.
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions;

/**
 * The filters, order and limit of a list, checked. Empty lists take everything.
 */
final class Criteria {

	/**
	 * Value of sort => column.
	 */
	public const SORTS = array(
		'date'   => 'started_at',
		'cost'   => 'cost_usd',
		'turns'  => 'turn_count',
		'tokens' => 'token_total',
	);

	public const LIMIT = 100;

	/**
	 * Canonical names.
	 *
	 * @var string[]
	 */
	public array $runtimes = array();

	/**
	 * Models, exact.
	 *
	 * @var string[]
	 */
	public array $models = array();

	/**
	 * Some of Index_Row::STATUSES.
	 *
	 * @var string[]
	 */
	public array $statuses = array();

	/**
	 * Some of Index_Row::KINDS.
	 *
	 * @var string[]
	 */
	public array $kinds = array();

	/**
	 * Labels of hosts; '' is the default one.
	 *
	 * @var string[]
	 */
	public array $hosts = array();

	/**
	 * A path (exact), a path that ends in "/" (it and everything below), or basename:NAME.
	 *
	 * @var string|null
	 */
	public ?string $project;

	/**
	 * Lower bound of started_at in Unix seconds, included.
	 *
	 * @var int|null
	 */
	public ?int $since;

	/**
	 * Upper bound of started_at in Unix seconds, included.
	 *
	 * @var int|null
	 */
	public ?int $until;

	/**
	 * Key of SORTS.
	 *
	 * @var string
	 */
	public string $sort;

	/**
	 * Either asc or desc.
	 *
	 * @var string
	 */
	public string $order;

	/**
	 * At most so many; null for all.
	 *
	 * @var int|null
	 */
	public ?int $limit;

	/**
	 * Reads the options of "sessions list".
	 *
	 * @param array $args runtime, project, since, until, model, status, kind, host, sort, order, limit, all. Filters are
	 *                    lists, or texts with commas.
	 * @throws Sidecar_Error INVALID_ARGUMENT: a value makes no sense.
	 */
	public function __construct( array $args ) {
		self::require_text( $args );
		$everything     = ! empty( $args['all'] );
		$this->runtimes = self::names( $args, 'runtime' );
		$this->models   = self::names( $args, 'model' );
		$this->hosts    = self::names( $args, 'host' );
		$this->statuses = self::words( $args, 'status', Index_Row::STATUSES );
		$this->kinds    = self::words( $args, 'kind', Index_Row::KINDS );
		if ( ! $this->kinds && ! $everything ) {
			$this->kinds = array( 'session' );
		}
		$this->project = isset( $args['project'] ) ? (string) $args['project'] : null;
		$this->since   = isset( $args['since'] ) ? self::moment( (string) $args['since'], false ) : null;
		$this->until   = isset( $args['until'] ) ? self::moment( (string) $args['until'], true ) : null;
		$this->sort    = self::choice( $args, 'sort', array_keys( self::SORTS ) );
		$this->order   = self::choice( $args, 'order', array( 'desc', 'asc' ) );
		$this->limit   = $everything ? null : self::LIMIT;
		if ( isset( $args['limit'] ) ) {
			$limit = filter_var( $args['limit'], FILTER_VALIDATE_INT, array( 'options' => array( 'min_range' => 1 ) ) );
			if ( ! $limit ) {
				throw self::invalid( 'limit', (string) $args['limit'], array( '1', '2', '3', '…' ) );
			}
			$this->limit = $limit;
		}
	}

	/**
	 * Refuses what is not UTF-8: neither the database nor the link takes it.
	 *
	 * @param array $args Options.
	 * @throws Sidecar_Error INVALID_ARGUMENT.
	 */
	public static function require_text( array $args ): void {
		array_walk_recursive(
			$args,
			static function ( $value ): void {
				if ( is_string( $value ) && ! preg_match( '//u', $value ) ) {
					throw new Sidecar_Error( 'INVALID_ARGUMENT', __( 'An argument is not valid UTF-8.', 'coding-agents-sessions' ) );
				}
			}
		);
	}

	/**
	 * Returns the values of a filter.
	 *
	 * @param array  $args Options.
	 * @param string $name Name of the filter.
	 * @return string[]
	 */
	public static function names( array $args, string $name ): array {
		$given = $args[ $name ] ?? array();
		if ( is_string( $given ) ) {
			// A value that is empty as a whole is one: the host label '' is the default one.
			$given = '' === trim( $given, ' ,' ) ? array( '' ) : array_filter( array_map( 'trim', explode( ',', $given ) ), 'strlen' );
		}
		return array_values( array_unique( array_map( 'strval', (array) $given ) ) );
	}

	/**
	 * Returns the values of a filter that knows its values.
	 *
	 * @param array    $args  Options.
	 * @param string   $name  Name of the filter.
	 * @param string[] $known What it may hold.
	 * @return string[]
	 * @throws Sidecar_Error INVALID_ARGUMENT.
	 */
	private static function words( array $args, string $name, array $known ): array {
		$words = self::names( $args, $name );
		$wrong = array_diff( $words, $known );
		if ( $wrong ) {
			throw self::invalid( $name, (string) reset( $wrong ), $known );
		}
		return $words;
	}

	/**
	 * Returns the value of an option with choices, of which the first is the default.
	 *
	 * @param array    $args  Options.
	 * @param string   $name  Name of the option.
	 * @param string[] $known What it may be.
	 * @throws Sidecar_Error INVALID_ARGUMENT.
	 */
	public static function choice( array $args, string $name, array $known ): string {
		$value = $args[ $name ] ?? $known[0];
		if ( ! in_array( $value, $known, true ) ) {
			throw self::invalid( $name, is_string( $value ) ? $value : '', $known );
		}
		return $value;
	}

	/**
	 * Returns a point in time as Unix seconds.
	 *
	 * @param string $value Unix seconds, ISO 8601, or an age such as 7d or 12h. Without an offset it is in the site's time zone.
	 * @param bool   $last  A bare date means the last second of that day instead of the first.
	 * @throws Sidecar_Error INVALID_ARGUMENT.
	 */
	private static function moment( string $value, bool $last ): int {
		if ( preg_match( '/^\d{1,11}$/D', $value ) ) {
			return (int) $value;
		}
		if ( preg_match( '/^(\d{1,6})([dh])$/D', $value, $age ) ) {
			return time() - (int) $age[1] * ( 'd' === $age[2] ? DAY_IN_SECONDS : HOUR_IN_SECONDS );
		}
		$clock = '[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:?\d\d)?';
		if ( preg_match( "/^(\d{4})-(\d\d)-(\d\d)($clock)?$/D", $value, $part ) && checkdate( (int) $part[2], (int) $part[3], (int) $part[1] ) ) {
			$moment = new \DateTimeImmutable( $value, wp_timezone() );
			return isset( $part[4] ) || ! $last ? $moment->getTimestamp() : $moment->modify( '+1 day' )->getTimestamp() - 1;
		}
		throw self::invalid( $last ? 'until' : 'since', $value, array( '1767225600', '2026-01-01', '2026-01-01T12:00:00Z', '7d', '12h' ) );
	}

	/**
	 * Returns the error for a wrong value.
	 *
	 * @param string   $name  Name of the option.
	 * @param string   $value What was given.
	 * @param string[] $known What would be right.
	 */
	private static function invalid( string $name, string $value, array $known ): Sidecar_Error {
		return new Sidecar_Error(
			'INVALID_ARGUMENT',
			sprintf(
				/* translators: 1: name of an option, 2: its value, 3: values that would be right. */
				__( '--%1$s cannot be "%2$s". Possible values: %3$s.', 'coding-agents-sessions' ),
				$name,
				$value,
				implode( ', ', $known )
			)
		);
	}
}
