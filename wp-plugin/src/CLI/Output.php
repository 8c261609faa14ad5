<?php
/**
 * Standard output of the commands.
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions\CLI;

use Coding_Agents\Sessions\Criteria;
use Coding_Agents\Sessions\Log;
use Coding_Agents\Sessions\Sidecar_Error;

/**
 * Prints data to standard output and nothing else; words and the noise of other code go to standard error.
 */
final class Output {

	private const COMMANDS = array( 'sessions', 'runtimes', 'doctor' );

	/**
	 * C0 and C1 controls, and the marks that change the direction of text: a terminal would obey them.
	 */
	private const CONTROLS = '/[\x{00}-\x{1f}\x{7f}-\x{9f}\x{061c}\x{200e}\x{200f}\x{2028}-\x{202e}\x{2066}-\x{2069}\x{feff}]+/u';

	private const TIMES = array( 'started_at', 'ended_at', 'last_activity_at', 'file_mtime' );

	private const BROKEN_PIPE = 141;

	/**
	 * Whether everything that is echoed goes to standard error.
	 *
	 * @var bool
	 */
	private static bool $guarded = false;

	/**
	 * Whether a command is at work.
	 *
	 * @var bool
	 */
	private static bool $unfinished = false;

	/**
	 * Sends what other code echoes from here on to standard error, if the command that runs is one of this plugin.
	 *
	 * What was echoed before this plugin was loaded is gone already; then the place is named, so that it can be mended.
	 */
	public static function guard(): void {
		$words = \WP_CLI::get_runner()->arguments;
		if ( 'coding-agents' !== ( $words[0] ?? '' ) || ! in_array( $words[1] ?? '', self::COMMANDS, true ) ) {
			return;
		}
		headers_sent( $file, $line );
		if ( $file ) {
			Log::warning( "Standard output does not begin with the data: $file printed something on line $line." );
		}
		self::$guarded = true;
		self::divert();
		// WordPress ends all buffers at the start of its shutdown, and other code goes on talking.
		add_action( 'shutdown', array( self::class, 'divert' ), 2 );
	}

	/**
	 * Sends what is echoed to standard error.
	 */
	public static function divert(): void {
		ob_start(
			static function ( string $noise ): string {
				fwrite( STDERR, $noise );
				return '';
			},
			1
		);
	}

	/**
	 * Prints data. A reader that has gone, such as head, ends the command quietly.
	 *
	 * @param string $bytes Data.
	 */
	public static function data( string $bytes ): void {
		if ( ! self::$guarded ) {
			// Another command runs this one in its own process and collects what is echoed.
			echo $bytes;
			return;
		}
		while ( '' !== $bytes ) {
			$written = @fwrite( STDOUT, $bytes ); // phpcs:ignore Generic.PHP.NoSilencedErrors.Discouraged -- a reader may go at any time.
			if ( ! $written ) {
				self::$unfinished = false;
				exit( self::BROKEN_PIPE );
			}
			$bytes = (string) substr( $bytes, $written );
		}
	}

	/**
	 * Prints words for people to standard error.
	 *
	 * @param string $sentence What to say.
	 */
	public static function words( string $sentence ): void {
		fwrite( STDERR, self::clean( $sentence ) . "\n" );
	}

	/**
	 * Runs a command; an error ends it with the exit status of its code.
	 *
	 * @param array    $options Options of the command.
	 * @param string[] $formats What --format may be; the first one is the default.
	 * @param callable $work    Gets the format. Throws Sidecar_Error, or returns a WP_Error.
	 */
	public static function run( array $options, array $formats, callable $work ): void {
		// What the person typed, not the default: an error is a sentence where nobody asked for JSON.
		$as_json          = 'json' === ( $options['format'] ?? '' );
		self::$unfinished = true;
		register_shutdown_function(
			static function () use ( $as_json ): void {
				// To exit skips the functions that are left, so this one is the last.
				register_shutdown_function( array( self::class, 'ended' ), $as_json );
			}
		);
		try {
			$result = $work( Criteria::choice( $options, 'format', $formats ) );
		} catch ( Sidecar_Error $error ) {
			$result = $error->to_wp_error();
		} catch ( \Throwable $error ) {
			// Neither a trace nor a message, which could quote a session.
			$result = ( new Sidecar_Error( 'INTERNAL_ERROR', sprintf( '%s in %s on line %d.', get_class( $error ), $error->getFile(), $error->getLine() ) ) )->to_wp_error();
		}
		self::$unfinished = false;
		if ( is_wp_error( $result ) ) {
			self::report( $result, $as_json );
			\WP_CLI::halt( $result->get_error_data()['exit'] );
		}
	}

	/**
	 * Says that other code ended PHP in the middle of a command, which would otherwise look like success without data.
	 *
	 * @param bool $as_json As for report().
	 */
	public static function ended( bool $as_json ): void {
		if ( ! self::$unfinished ) {
			return;
		}
		$action = $GLOBALS['wp_current_filter'][0] ?? null;
		$error  = new Sidecar_Error(
			'INTERNAL_ERROR',
			null === $action
				? __( 'Other code ended PHP before the command had finished.', 'coding-agents-sessions' )
				/* translators: %s: name of an action. */
				: sprintf( __( 'A listener of %s ended PHP.', 'coding-agents-sessions' ), $action )
		);
		$error = $error->to_wp_error();
		self::report( $error, $as_json );
		exit( (int) $error->get_error_data()['exit'] );
	}

	/**
	 * Prints an error to standard error.
	 *
	 * @param \WP_Error $error   Code of schema/errors.json, and message.
	 * @param bool      $as_json As a JSON object instead of a sentence.
	 */
	private static function report( \WP_Error $error, bool $as_json ): void {
		if ( $as_json ) {
			$document = array(
				'code'    => $error->get_error_code(),
				'message' => $error->get_error_message(),
			);
			fwrite( STDERR, self::json( array( 'error' => $document + array_intersect_key( $error->get_error_data(), array( 'candidates' => 0 ) ) ) ) . "\n" );
		} else {
			\WP_CLI::error( self::clean( $error->get_error_message() ), false );
		}
	}

	/**
	 * Returns a value as JSON on one line.
	 *
	 * @param mixed $value A value. Only an error may quote what is not UTF-8.
	 */
	public static function json( $value ): string {
		return (string) wp_json_encode( $value, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION | JSON_INVALID_UTF8_SUBSTITUTE );
	}

	/**
	 * Returns a text without anything that steers a terminal.
	 *
	 * @param string $text Any text.
	 */
	public static function clean( string $text ): string {
		return (string) preg_replace( self::CONTROLS, ' ', wp_check_invalid_utf8( $text, true ) );
	}

	/**
	 * Returns a value for the eyes: times are the site's, unknown is empty.
	 *
	 * @param string $name  Column.
	 * @param mixed  $value Its value.
	 */
	public static function cell( string $name, $value ): string {
		if ( null === $value ) {
			return '';
		}
		if ( is_int( $value ) && in_array( $name, self::TIMES, true ) ) {
			return wp_date( 'Y-m-d H:i', $value );
		}
		if ( is_float( $value ) ) {
			return number_format( $value, 6, '.', '' );
		}
		if ( is_array( $value ) ) {
			return implode( is_int( key( $value ) ) ? ', ' : ' ', array_map( static fn( $part ): string => self::cell( '', $part ), $value ) );
		}
		return self::clean( (string) $value );
	}

	/**
	 * Prints rows as a table.
	 *
	 * @param array[]  $rows   Rows.
	 * @param string[] $fields Columns to show.
	 */
	public static function table( array $rows, array $fields ): void {
		$cells = array();
		foreach ( $rows as $row ) {
			$line = array();
			foreach ( $fields as $field ) {
				$line[ $field ] = self::cell( $field, $row[ $field ] );
			}
			$cells[] = $line;
		}
		$args = array( 'format' => 'table' );
		ob_start();
		( new \WP_CLI\Formatter( $args, $fields ) )->display_items( $cells );
		self::data( (string) ob_get_clean() );
	}
}
