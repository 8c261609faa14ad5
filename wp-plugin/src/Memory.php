<?php
/**
 * PHP's memory.
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions;

/**
 * Tells whether something fits into memory before PHP dies of it.
 */
final class Memory {

	/**
	 * Tells whether so many bytes fit, after raising the limit as far as WordPress may.
	 *
	 * @param int $bytes Needed.
	 */
	public static function fits( int $bytes ): bool {
		if ( $bytes <= self::left() ) {
			return true;
		}
		wp_raise_memory_limit( 'coding_agents' );
		return $bytes <= self::left();
	}

	/**
	 * Returns how many bytes are left; INF without a limit.
	 */
	public static function left(): float {
		$limit = wp_convert_hr_to_bytes( (string) ini_get( 'memory_limit' ) );
		return $limit > 0 ? (float) ( $limit - memory_get_usage() ) : INF;
	}
}
