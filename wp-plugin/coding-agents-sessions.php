<?php
/**
 * Plugin Name:       Coding Agents Sessions
 * Description:       Lists, reads and announces the sessions of coding agents such as Claude Code, Codex and OpenCode that run beside this site. WordPress keeps one row of metadata for each; what was said stays in the agents' own files.
 * Version:           0.1.0
 * Requires at least: 6.1
 * Requires PHP:      7.4
 * Author:            The Coding Agents Sessions contributors
 * License:           GPL-2.0-or-later
 * License URI:       https://www.gnu.org/licenses/gpl-2.0.html
 * Text Domain:       coding-agents-sessions
 * Network:           true
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions;

defined( 'ABSPATH' ) || exit;

spl_autoload_register(
	static function ( string $class ): void {
		if ( 0 === strpos( $class, __NAMESPACE__ . '\\' ) ) {
			$file = __DIR__ . '/src/' . str_replace( '\\', '/', substr( $class, strlen( __NAMESPACE__ ) + 1 ) ) . '.php';
			if ( is_file( $file ) ) {
				require $file;
			}
		}
	}
);

register_activation_hook(
	__FILE__,
	static function (): void {
		Table::upgrade();
		Cron::schedule();
	}
);
register_deactivation_hook(
	__FILE__,
	static function (): void {
		Cron::unschedule();
	}
);

add_filter( 'cron_schedules', array( Cron::class, 'add_schedule' ) );
add_action( Cron::HOOK, array( Cron::class, 'run' ) );

// Visitors' requests pay for none of this.
if ( is_admin() || wp_doing_cron() || ( defined( 'WP_CLI' ) && WP_CLI ) ) {
	add_action( 'init', array( Table::class, 'maybe_upgrade' ) );
	add_action( 'init', array( Cron::class, 'schedule' ) );
	add_action( 'admin_notices', array( Table::class, 'notice' ) );
	add_action( 'network_admin_notices', array( Table::class, 'notice' ) );
}

if ( defined( 'WP_CLI' ) && WP_CLI ) {
	CLI\Output::guard();
	\WP_CLI::add_command( 'coding-agents sessions', CLI\Sessions_Command::class );
	\WP_CLI::add_command( 'coding-agents runtimes', CLI\Runtimes_Command::class );
	\WP_CLI::add_command( 'coding-agents doctor', CLI\Doctor_Command::class );
}
