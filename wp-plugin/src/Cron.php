<?php
/**
 * The scheduled pass.
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions;

/**
 * Keeps the index fresh through WordPress's cron, on the main site only.
 */
final class Cron {

	public const HOOK = 'coding_agents_sessions_reindex';

	private const SCHEDULE = 'coding_agents_sessions';

	/**
	 * A web request has other things to do.
	 */
	private const WEB_SECONDS = 20;

	/**
	 * Returns the seconds between two passes.
	 */
	public static function interval(): int {
		/**
		 * Filters how often the sessions are indexed by cron.
		 *
		 * @param int $seconds Seconds between two passes. Default an hour; at least a minute.
		 */
		return max( MINUTE_IN_SECONDS, (int) apply_filters( 'wp_coding_agents_reindex_interval', HOUR_IN_SECONDS ) );
	}

	/**
	 * Tells whether wp-config.php has switched the schedule off.
	 */
	public static function is_disabled(): bool {
		return defined( 'CODING_AGENTS_DISABLE_CRON' ) && CODING_AGENTS_DISABLE_CRON;
	}

	/**
	 * Returns when the last complete pass was, in Unix seconds; 0 when there was none.
	 */
	public static function last_pass(): int {
		return (int) State::get( State::LAST_PASS, 0 );
	}

	/**
	 * Tells whether the index is staler than the schedule explains.
	 */
	public static function is_overdue(): bool {
		return self::last_pass() < time() - 2 * self::interval();
	}

	/**
	 * Adds the plugin's schedule.
	 *
	 * @param array $schedules Known schedules.
	 */
	public static function add_schedule( array $schedules ): array {
		$schedules[ self::SCHEDULE ] = array(
			'interval' => self::interval(),
			'display'  => 'Coding Agents Sessions',
		);
		return $schedules;
	}

	/**
	 * Brings the event in line with the settings.
	 */
	public static function schedule(): void {
		if ( ! is_main_site() ) {
			return;
		}
		$event = wp_get_scheduled_event( self::HOOK );
		if ( self::is_disabled() ) {
			if ( $event ) {
				self::unschedule();
			}
			return;
		}
		$wanted = defined( 'WP_CLI' ) && WP_CLI && self::is_owed();
		if ( ! $event || self::interval() !== (int) $event->interval || ( $wanted && $event->timestamp > time() ) ) {
			self::unschedule();
			// The event itself is moved: WordPress refuses a second one within ten minutes of the first.
			wp_schedule_event( time() + ( $wanted ? 0 : self::interval() ), self::SCHEDULE, self::HOOK );
		}
	}

	/**
	 * Tells whether a web request has used up the turn of a pass, and there was none since.
	 */
	private static function is_owed(): bool {
		$failure = State::get( State::CRON_FAILURE, null );
		return ! empty( $failure['owed'] ) && self::last_pass() < $failure['time'];
	}

	/**
	 * Removes the event.
	 */
	public static function unschedule(): void {
		wp_clear_scheduled_hook( self::HOOK );
	}

	/**
	 * Runs a pass; where that is impossible, remembers why and announces at least what is pending.
	 */
	public static function run(): void {
		$sessions = Sessions::create();
		$report   = $sessions->reindex();
		if ( ! is_wp_error( $report ) ) {
			State::clear( State::CRON_FAILURE );
			return;
		}
		$web = 'cli' !== PHP_SAPI;
		State::set(
			State::CRON_FAILURE,
			array(
				'time'    => time(),
				'owed'    => $web || self::is_owed(),
				'code'    => $report->get_error_code(),
				'message' => $report->get_error_message(),
			)
		);
		Log::warning( $report->get_error_message() );
		$sessions->drain( $web ? self::WEB_SECONDS : null );
	}
}
