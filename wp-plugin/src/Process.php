<?php
/**
 * A program that answers line by line.
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions;

/**
 * A child process and its standard streams.
 */
final class Process {

	private const END_SECONDS = 2;
	private const BLOCK_BYTES = 65536;

	/**
	 * How often a line exists in memory while it is taken apart.
	 */
	private const LINE_COPIES = 4;

	/**
	 * The process; null when the program could not be started, or was closed.
	 *
	 * @var resource|null
	 */
	private $process = null;

	/**
	 * Its standard input.
	 *
	 * @var resource
	 */
	private $input;

	/**
	 * Its standard output.
	 *
	 * @var resource
	 */
	private $output;

	/**
	 * Its standard error: a file, since a full pipe would stop the program.
	 *
	 * @var resource
	 */
	private $words;

	/**
	 * What was read from the output.
	 *
	 * @var string
	 */
	private string $buffer = '';

	/**
	 * Where the next line begins in the buffer.
	 *
	 * @var int
	 */
	private int $begin = 0;

	/**
	 * Starts a program. Whether that worked, its first line tells.
	 *
	 * @param string[] $command Program and arguments; no shell sees them.
	 */
	public function __construct( array $command ) {
		$this->words = tmpfile();
		$process     = @proc_open( $command, array( array( 'pipe', 'r' ), array( 'pipe', 'w' ), $this->words ), $pipes ); // phpcs:ignore Generic.PHP.NoSilencedErrors.Discouraged -- line() tells, and a missing program would fill the log.
		if ( is_resource( $process ) ) {
			$this->process                      = $process;
			list( $this->input, $this->output ) = $pipes;
			stream_set_blocking( $this->output, false );
		}
	}

	/**
	 * Writes to the program. Where that fails, the program is gone, and line() says so.
	 *
	 * @param string $bytes What to write.
	 */
	public function send( string $bytes ): void {
		while ( $this->process && '' !== $bytes ) {
			$written = @fwrite( $this->input, $bytes ); // phpcs:ignore Generic.PHP.NoSilencedErrors.Discouraged -- a notice says no more than the result.
			if ( ! $written ) {
				return;
			}
			$bytes = substr( $bytes, $written );
		}
	}

	/**
	 * Returns the next line without its end; null when the program is gone.
	 *
	 * @param int $idle_seconds A silence of so many seconds is an error.
	 * @throws Sidecar_Error TIMEOUT, TOO_LARGE.
	 */
	public function line( int $idle_seconds ): ?string {
		$searched = $this->begin;
		while ( false === ( $end = strpos( $this->buffer, "\n", $searched ) ) ) {
			$this->buffer = (string) substr( $this->buffer, $this->begin );
			$this->begin  = 0;
			$searched     = strlen( $this->buffer );
			if ( ! Memory::fits( self::LINE_COPIES * $searched ) ) {
				throw new Sidecar_Error( 'TOO_LARGE', __( 'One message of the session does not fit into PHP\'s memory. "coding-agents sessions read" needs no PHP.', 'coding-agents-sessions' ) );
			}
			$block = $this->block( $idle_seconds );
			if ( null === $block ) {
				return null;
			}
			$this->buffer .= $block;
		}
		$line        = substr( $this->buffer, $this->begin, $end - $this->begin );
		$this->begin = $end + 1;
		return $line;
	}

	/**
	 * Waits for output and returns it; null when there will be none.
	 *
	 * @param int $idle_seconds A silence of so many seconds is an error.
	 * @throws Sidecar_Error TIMEOUT.
	 */
	private function block( int $idle_seconds ): ?string {
		$none = null;
		while ( $this->process && ! feof( $this->output ) ) {
			$ready = array( $this->output );
			if ( 0 === stream_select( $ready, $none, $none, $idle_seconds ) ) {
				proc_terminate( $this->process, 9 );
				/* translators: %d: number of seconds. */
				throw new Sidecar_Error( 'TIMEOUT', sprintf( __( 'The sidecar has said nothing for %d seconds.', 'coding-agents-sessions' ), $idle_seconds ) );
			}
			$block = fread( $this->output, self::BLOCK_BYTES );
			if ( is_string( $block ) && '' !== $block ) {
				return $block;
			}
		}
		return null;
	}

	/**
	 * Returns the last line the program wrote to its standard error; '' when it wrote none.
	 */
	public function last_words(): string {
		rewind( $this->words );
		$lines = explode( "\n", trim( (string) stream_get_contents( $this->words ) ) );
		return trim( (string) end( $lines ) );
	}

	/**
	 * Closes the streams, upon which the program ends; one that does not is made to.
	 *
	 * Not a destructor: where PHP itself runs as WebAssembly, one that waits for a program crashes it.
	 */
	public function close(): void {
		if ( ! $this->process ) {
			return;
		}
		fclose( $this->input );
		fclose( $this->output );
		$end = microtime( true ) + self::END_SECONDS;
		while ( proc_get_status( $this->process )['running'] ) {
			if ( microtime( true ) > $end ) {
				proc_terminate( $this->process, 9 );
				break;
			}
			usleep( 2000 );
		}
		proc_close( $this->process );
		$this->process = null;
	}
}
