<?php
/**
 * Removes everything the plugin has put into the database.
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions;

defined( 'WP_UNINSTALL_PLUGIN' ) || exit;

foreach ( array( 'Table', 'State', 'Lease', 'Cron' ) as $class ) {
	require_once __DIR__ . "/src/$class.php";
}

Table::drop();
State::clear_all();

if ( is_multisite() ) {
	switch_to_blog( get_main_site_id() );
}
delete_option( Lease::OPTION );
Cron::unschedule();
