<?php
/**
 * Words for those who run the site.
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions;

/**
 * Says what went wrong where somebody sees it: on standard error under WP-CLI, else in the debug log.
 */
final class Log {

	/**
	 * Says a sentence, which never holds content of a session.
	 *
	 * @param string $message What went wrong.
	 */
	public static function warning( string $message ): void {
		if ( defined( 'WP_CLI' ) && WP_CLI ) {
			\WP_CLI::warning( $message );
		} elseif ( defined( 'WP_DEBUG_LOG' ) && WP_DEBUG_LOG ) {
			error_log( "Coding Agents Sessions: $message" ); // phpcs:ignore Generic.PHP.ForbiddenFunctions.Found -- this is the debug log.
		}
	}

	/**
	 * Says that a listener failed. Its message is left out: it may quote the session.
	 *
	 * @param string     $action Name of the action.
	 * @param array      $row    The session it was about: runtime, session_id.
	 * @param \Throwable $error  What the listener threw.
	 */
	public static function listener_failed( string $action, array $row, \Throwable $error ): void {
		self::warning(
			sprintf(
				/* translators: 1: name of an action, 2: id of a session, 3: class of an exception, 4: file, 5: line. */
				__( 'A listener of %1$s failed for %2$s: %3$s in %4$s on line %5$d.', 'coding-agents-sessions' ),
				$action,
				Index_Row::unified_id( $row ),
				get_class( $error ),
				$error->getFile(),
				$error->getLine()
			)
		);
	}
}
