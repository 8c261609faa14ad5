<?php
/**
 * How to reach WordPress's database.
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions;

/**
 * Lets the sidecar write to the database by itself, where it would reach the same one as WordPress.
 */
final class Database {

	/**
	 * Returns what the sidecar needs to connect; null where only WordPress itself knows where its rows go: a drop-in may
	 * keep them in SQLite or spread them over servers.
	 *
	 * @return array{host: string, port: int|null, socket: string|null, user: string, password: string, name: string, flags: int, ssl_ca: string|null}|null
	 */
	public static function credentials(): ?array {
		global $wpdb;
		if ( file_exists( WP_CONTENT_DIR . '/db.php' ) || 'wpdb' !== get_class( $wpdb ) ) {
			return null;
		}
		$parts = $wpdb->parse_db_host( $wpdb->dbhost );
		if ( ! $parts ) {
			return null;
		}
		list( $host, $port, $socket ) = $parts;
		if ( null === $socket && in_array( $host, array( '', 'localhost' ), true ) ) {
			// To PHP this name means a socket, to other clients a port.
			$socket = ini_get( 'mysqli.default_socket' ) ? ini_get( 'mysqli.default_socket' ) : $wpdb->get_var( 'SELECT @@socket' );
		}
		return array(
			'host'     => $host,
			'port'     => $port ?? ( (int) ini_get( 'mysqli.default_port' ) ? (int) ini_get( 'mysqli.default_port' ) : null ),
			'socket'   => $socket,
			'user'     => $wpdb->dbuser,
			'password' => $wpdb->dbpassword,
			'name'     => $wpdb->dbname,
			'flags'    => defined( 'MYSQL_CLIENT_FLAGS' ) ? (int) MYSQL_CLIENT_FLAGS : 0,
			'ssl_ca'   => defined( 'MYSQL_SSL_CA' ) ? (string) MYSQL_SSL_CA : null,
		);
	}
}
