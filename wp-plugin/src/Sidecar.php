<?php
/**
 * The plugin's end of the link to the sidecar.
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions;

/**
 * Asks a sidecar, which the first question starts and close() ends. docs/protocol.md says how.
 */
final class Sidecar {

	/**
	 * Version of the protocol.
	 */
	public const PROTOCOL = 1;

	/**
	 * Version of the session document.
	 */
	public const DOCUMENT = 1;

	private const PROGRAM      = 'coding-agents';
	private const IDLE_SECONDS = 60;
	private const WORDS_LENGTH = 200;

	/**
	 * The program; null while it does not run.
	 *
	 * @var Process|null
	 */
	private ?Process $process = null;

	/**
	 * A silence of so many seconds is an error.
	 *
	 * @var int
	 */
	private int $idle_seconds;

	/**
	 * Id of the last request.
	 *
	 * @var int
	 */
	private int $last_id = 0;

	/**
	 * What the sidecar says of itself; empty while it has not.
	 *
	 * @var array
	 */
	private array $hello = array();

	/**
	 * Sets the deadline.
	 *
	 * @param int $idle_seconds A silence of so many seconds is an error.
	 */
	public function __construct( int $idle_seconds = self::IDLE_SECONDS ) {
		$this->idle_seconds = $idle_seconds;
	}

	/**
	 * Returns what the sidecar says of itself: protocol, table, document, version, host, publisher.
	 *
	 * @throws Sidecar_Error SIDECAR_UNAVAILABLE, VERSION_MISMATCH, TIMEOUT.
	 */
	public function hello(): array {
		if ( ! $this->process ) {
			self::require_command_line();
			$this->hello   = array();
			$this->process = new Process( array( self::program(), 'serve', '--stdio' ) );
			$hello         = (array) json_decode( $this->exchange( 'hello', array() )['head'], true );
			try {
				self::compare_versions( $hello );
			} catch ( Sidecar_Error $error ) {
				$this->close();
				throw $error;
			}
			$this->hello = $hello;
		}
		return $this->hello;
	}

	/**
	 * Sends a request and reads its whole answer.
	 *
	 * @param string        $op          Operation.
	 * @param array         $args        Its arguments.
	 * @param callable|null $on_item     Gets each item as the bytes it came in.
	 * @param callable|null $on_progress Gets how much is done and how much there is, both int.
	 * @return array{head: string, end: array} The head as the bytes it came in, and the end.
	 * @throws Sidecar_Error The sidecar's own error, SIDECAR_UNAVAILABLE, VERSION_MISMATCH, TIMEOUT, TOO_LARGE.
	 */
	public function call( string $op, array $args = array(), ?callable $on_item = null, ?callable $on_progress = null ): array {
		$this->hello();
		return $this->exchange( $op, $args, $on_item, $on_progress );
	}

	/**
	 * Returns the decoded items of a small answer.
	 *
	 * @param string $op   Operation.
	 * @param array  $args Its arguments.
	 * @throws Sidecar_Error As call().
	 */
	public function items( string $op, array $args = array() ): array {
		$items = array();
		$this->call(
			$op,
			$args,
			static function ( string $item ) use ( &$items ): void {
				$items[] = json_decode( $item, true );
			}
		);
		return $items;
	}

	/**
	 * Ends the program. The next question starts it again.
	 */
	public function close(): void {
		if ( $this->process ) {
			$this->process->close();
			$this->process = null;
		}
	}

	/**
	 * Sends a request and reads its answer, as call() does. The program is let go when the answer is not a whole one.
	 *
	 * @param string        $op          Operation.
	 * @param array         $args        Its arguments.
	 * @param callable|null $on_item     As for call().
	 * @param callable|null $on_progress As for call().
	 * @return array{head: string, end: array}
	 * @throws Sidecar_Error As call().
	 */
	private function exchange( string $op, array $args, ?callable $on_item = null, ?callable $on_progress = null ): array {
		$process       = $this->process;
		$this->process = null;
		try {
			$id      = ++$this->last_id;
			$request = array(
				'v'    => self::PROTOCOL,
				'id'   => $id,
				'op'   => $op,
				'args' => (object) $args,
			);
			$process->send( wp_json_encode( $request, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION ) . "\n" );
			$head  = null;
			$count = 0;
			while ( null !== ( $line = $process->line( $this->idle_seconds ) ) ) {
				$item = self::member( $line, $id, 'item' );
				if ( null !== $item ) {
					++$count;
					if ( $on_item ) {
						$on_item( $item );
					}
					continue;
				}
				$answer = json_decode( $line, true );
				if ( ! is_array( $answer ) || ( $answer['id'] ?? null ) !== $id ) {
					continue;
				}
				$head = $head ?? self::member( $line, $id, 'head' );
				if ( isset( $answer['progress'] ) && $on_progress ) {
					$on_progress( $answer['progress']['done'], $answer['progress']['total'] );
				} elseif ( isset( $answer['error'] ) ) {
					$this->process = $process;
					throw new Sidecar_Error( $answer['error']['code'], $answer['error']['message'], $answer['error']['candidates'] ?? array() );
				} elseif ( isset( $answer['end'] ) ) {
					if ( null === $head || $count !== $answer['end']['count'] ) {
						break;
					}
					$this->process = $process;
					return array(
						'head' => $head,
						'end'  => $answer['end'],
					);
				}
			}
			throw $this->hello ? new Sidecar_Error( 'SIDECAR_UNAVAILABLE', __( 'The sidecar ended in the middle of an answer.', 'coding-agents-sessions' ) ) : self::absent( $process->last_words() );
		} finally {
			if ( ! $this->process ) {
				$process->close();
			}
		}
	}

	/**
	 * Returns a member of a line as the bytes it came in; null when the line is another one.
	 *
	 * @param string $line Line of an answer.
	 * @param int    $id   Id of the request.
	 * @param string $name Name of the member.
	 */
	private static function member( string $line, int $id, string $name ): ?string {
		$begin = "{\"id\":$id,\"$name\":";
		return 0 === strncmp( $line, $begin, strlen( $begin ) ) && '}' === substr( $line, -1 ) ? substr( $line, strlen( $begin ), -1 ) : null;
	}

	/**
	 * Returns the program, which only those who can write wp-config.php decide on.
	 */
	private static function program(): string {
		return defined( 'CODING_AGENTS_BINARY' ) ? (string) CODING_AGENTS_BINARY : self::PROGRAM;
	}

	/**
	 * Refuses to start a program for a web request: whoever sends requests would decide how many programs run.
	 *
	 * @throws Sidecar_Error SIDECAR_UNAVAILABLE.
	 */
	private static function require_command_line(): void {
		if ( 'cli' !== PHP_SAPI && ! ( defined( 'WP_CLI' ) && WP_CLI ) ) {
			throw new Sidecar_Error( 'SIDECAR_UNAVAILABLE', __( 'A web request cannot reach the sidecar. Use WP-CLI.', 'coding-agents-sessions' ) );
		}
		if ( ! function_exists( 'proc_open' ) ) {
			throw new Sidecar_Error( 'SIDECAR_UNAVAILABLE', __( 'The sidecar cannot be started: this PHP may not start programs (proc_open is disabled).', 'coding-agents-sessions' ) );
		}
	}

	/**
	 * Returns the error for a program that is not there or is no sidecar.
	 *
	 * @param string $words What it said last.
	 */
	private static function absent( string $words ): Sidecar_Error {
		return new Sidecar_Error(
			'SIDECAR_UNAVAILABLE',
			sprintf(
				/* translators: 1: name of a program, 2: its last words in brackets or nothing, 3: a command, 4: name of a constant. */
				__( 'The sidecar "%1$s" does not answer%2$s. Install it with "%3$s", or name the program in the constant %4$s.', 'coding-agents-sessions' ),
				self::program(),
				'' === $words ? '' : ' (' . mb_substr( $words, 0, self::WORDS_LENGTH, 'UTF-8' ) . ')',
				'pip install wp-coding-agents-sidecar',
				'CODING_AGENTS_BINARY'
			)
		);
	}

	/**
	 * Makes sure that both ends mean the same.
	 *
	 * @param array $hello What the sidecar says of itself.
	 * @throws Sidecar_Error VERSION_MISMATCH.
	 */
	private static function compare_versions( array $hello ): void {
		$own = array(
			'protocol' => self::PROTOCOL,
			'table'    => Table::VERSION,
			'document' => self::DOCUMENT,
		);
		foreach ( $own as $what => $version ) {
			$theirs = (int) ( $hello[ $what ] ?? 0 );
			if ( $theirs !== $version ) {
				/* translators: 1: protocol, table or document, 2 and 3: version numbers. */
				$newer = __( 'The plugin knows version %2$d of the %1$s, the sidecar %3$d: update the plugin.', 'coding-agents-sessions' );
				/* translators: 1: protocol, table or document, 2 and 3: version numbers. */
				$older = __( 'The plugin knows version %2$d of the %1$s, the sidecar %3$d: update the sidecar.', 'coding-agents-sessions' );
				throw new Sidecar_Error( 'VERSION_MISMATCH', sprintf( $theirs > $version ? $newer : $older, $what, $version, $theirs ) );
			}
		}
	}
}
