<?php
/**
 * The command "wp coding-agents runtimes".
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions\CLI;

use Coding_Agents\Sessions\Sidecar;

/**
 * Lists the runtimes whose sessions can be read, and where the sidecar looks for them.
 */
final class Runtimes_Command {

	private const TABLE = array( 'name', 'title', 'sources', 'sessions', 'roots' );

	/**
	 * Lists the runtimes whose sessions can be read, and where the sidecar looks for them.
	 *
	 * ## OPTIONS
	 *
	 * [--format=<format>]
	 * : One of table, json, csv, yaml. Default: table.
	 *
	 * ## EXAMPLES
	 *
	 *     # Names under which sessions can be filtered.
	 *     $ wp coding-agents runtimes --format=json | jq -r '.[].name'
	 *
	 * @param array $args    None.
	 * @param array $options Options.
	 */
	public function __invoke( array $args, array $options ): void {
		Output::run(
			$options,
			array( 'table', 'json', 'csv', 'yaml' ),
			static function ( string $format ): void {
				$sidecar  = new Sidecar();
				$runtimes = $sidecar->items( 'runtimes' );
				$sidecar->close();
				Rows::show( $runtimes, $format, 'table' === $format || ! $runtimes ? self::TABLE : array_keys( $runtimes[0] ) );
			}
		);
	}
}
