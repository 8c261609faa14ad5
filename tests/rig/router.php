<?php
// Lets PHP's own web server answer like a real one: index files, pretty links, static files.
$path = rawurldecode( parse_url( $_SERVER['REQUEST_URI'], PHP_URL_PATH ) );
$file = realpath( $_SERVER['DOCUMENT_ROOT'] . $path );
if ( $file && is_dir( $file ) ) {
	if ( '/' !== substr( $path, -1 ) ) {
		header( "Location: $path/", true, 301 );
		exit;
	}
	$file  = realpath( rtrim( $file, '/' ) . '/index.php' );
	$path .= 'index.php';
}
if ( $file && '.php' !== substr( $file, -4 ) ) {
	return false;
}
$_SERVER['SCRIPT_NAME']     = $file ? $path : '/index.php';
$_SERVER['PHP_SELF']        = $_SERVER['SCRIPT_NAME'];
$_SERVER['SCRIPT_FILENAME'] = $_SERVER['DOCUMENT_ROOT'] . $_SERVER['SCRIPT_NAME'];
chdir( dirname( $_SERVER['SCRIPT_FILENAME'] ) );
require $_SERVER['SCRIPT_FILENAME'];
