<?php
/**
 * The command "wp coding-agents doctor".
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions\CLI;

use Coding_Agents\Sessions\Doctor;

/**
 * Checks the plugin, its table, the schedule and the sidecar.
 */
final class Doctor_Command {

	/**
	 * Checks the plugin, its table, the schedule and the sidecar.
	 *
	 * ## OPTIONS
	 *
	 * [--format=<format>]
	 * : One of table, json. Default: table.
	 *
	 * ## EXAMPLES
	 *
	 *     $ wp coding-agents doctor --format=json | jq -r .health
	 *     green
	 *
	 * @param array $args    None.
	 * @param array $options Options.
	 */
	public function __invoke( array $args, array $options ): void {
		Output::run(
			$options,
			array( 'table', 'json' ),
			static function ( string $format ): void {
				$checks = Doctor::create()->checks();
				$health = Doctor::health( $checks );
				if ( 'json' === $format ) {
					Output::data( Output::json( compact( 'health', 'checks' ) ) . "\n" );
					return;
				}
				Output::table( $checks, array( 'check', 'status', 'message' ) );
				/* translators: %s: green, yellow or red. */
				Output::words( sprintf( __( 'Health: %s.', 'coding-agents-sessions' ), $health ) );
			}
		);
	}
}
