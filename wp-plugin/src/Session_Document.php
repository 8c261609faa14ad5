<?php
/**
 * A whole session.
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions;

/**
 * A session as the sidecar wrote it. PHP passes its bytes on: decoding and encoding would turn {} into [].
 */
final class Session_Document {

	/**
	 * Bytes kept in memory; more go to a temporary file.
	 */
	private const MEMORY_BYTES = 4194304;

	/**
	 * Bytes of PHP's arrays for a byte of JSON, and for a message beside that.
	 */
	private const ARRAY_FACTOR  = 8;
	private const MESSAGE_BYTES = 600;

	private const DEPTH = 1024;

	/**
	 * The session without its messages, a JSON object.
	 *
	 * @var string
	 */
	private string $head = '{}';

	/**
	 * The messages, a JSON object a line.
	 *
	 * @var resource
	 */
	private $lines;

	/**
	 * Bytes of all messages.
	 *
	 * @var int
	 */
	private int $bytes = 0;

	/**
	 * Number of messages.
	 *
	 * @var int
	 */
	private int $count = 0;

	/**
	 * Reads a session to its end.
	 *
	 * @param Sidecar $sidecar Where to ask.
	 * @param array   $args    Arguments of the operation "read".
	 * @throws Sidecar_Error As Sidecar::call(): there is no half session.
	 */
	public function __construct( Sidecar $sidecar, array $args ) {
		$this->lines = fopen( 'php://temp/maxmemory:' . self::MEMORY_BYTES, 'w+b' );
		$this->head  = $sidecar->call(
			'read',
			$args,
			function ( string $message ): void {
				$length = strlen( $message );
				if ( fwrite( $this->lines, "$message\n" ) !== $length + 1 ) {
					throw new Sidecar_Error( 'TOO_LARGE', __( 'The session does not fit into the folder for temporary files.', 'coding-agents-sessions' ) );
				}
				$this->bytes += $length;
				++$this->count;
			}
		)['head'];
	}

	/**
	 * Yields the pieces of the session as one JSON object.
	 *
	 * @return \Generator<string>
	 */
	public function json(): \Generator {
		yield substr( $this->head, 0, -1 ) . ',"messages":[';
		$comma = '';
		foreach ( $this->messages() as $message ) {
			yield $comma . $message;
			$comma = ',';
		}
		yield "]}\n";
	}

	/**
	 * Yields the session as JSON lines: everything but its messages, then these.
	 *
	 * @return \Generator<string>
	 */
	public function jsonl(): \Generator {
		yield "$this->head\n";
		foreach ( $this->messages() as $message ) {
			yield "$message\n";
		}
	}

	/**
	 * Returns the session as an array.
	 *
	 * @throws Sidecar_Error TOO_LARGE: PHP's memory does not hold it.
	 */
	public function to_array(): array {
		$needed = self::ARRAY_FACTOR * ( strlen( $this->head ) + $this->bytes ) + self::MESSAGE_BYTES * $this->count;
		if ( ! Memory::fits( $needed ) ) {
			throw new Sidecar_Error(
				'TOO_LARGE',
				sprintf(
					/* translators: 1: amount of memory such as 3 GB, 2: a setting, 3: a command. */
					__( 'The session needs %1$s of PHP\'s memory. Raise %2$s, or use "%3$s", which needs no PHP.', 'coding-agents-sessions' ),
					size_format( $needed ),
					'memory_limit',
					'coding-agents sessions read'
				)
			);
		}
		$session             = self::decoded( $this->head );
		$session['messages'] = array();
		foreach ( $this->messages() as $message ) {
			$session['messages'][] = self::decoded( $message );
		}
		return $session;
	}

	/**
	 * Yields the messages as the bytes they came in.
	 *
	 * @return \Generator<string>
	 */
	private function messages(): \Generator {
		rewind( $this->lines );
		for ( $index = 0; $index < $this->count; $index++ ) {
			yield rtrim( (string) fgets( $this->lines ), "\n" );
		}
	}

	/**
	 * Returns a JSON object as an array.
	 *
	 * @param string $json JSON.
	 * @throws Sidecar_Error INTERNAL_ERROR: PHP cannot read what the sidecar wrote.
	 */
	private static function decoded( string $json ): array {
		$value = json_decode( $json, true, self::DEPTH );
		if ( ! is_array( $value ) ) {
			throw new Sidecar_Error( 'INTERNAL_ERROR', __( 'The sidecar sent a message that PHP cannot read.', 'coding-agents-sessions' ) );
		}
		return $value;
	}
}
