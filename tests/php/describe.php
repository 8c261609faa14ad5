<?php
/**
 * Prints what the plugin's constants say, for comparison with schema/. Needs no WordPress.
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions;

foreach ( array( 'Index_Row', 'Table', 'Criteria', 'Sessions', 'Sidecar', 'Sidecar_Error' ) as $class ) {
	require dirname( __DIR__, 2 ) . "/wp-plugin/src/$class.php";
}

echo json_encode(
	array(
		'columns'     => Index_Row::COLUMNS,
		'writer'      => Index_Row::WRITER,
		'bookkeeping' => Index_Row::BOOKKEEPING,
		'statuses'    => Index_Row::STATUSES,
		'kinds'       => Index_Row::KINDS,
		'formats'     => Index_Row::formats(),
		'keys'        => Table::KEYS,
		'sorts'       => array_keys( Criteria::SORTS ),
		'fields'      => Sessions::FIELDS,
		'errors'      => Sidecar_Error::CODES,
		'versions'    => array(
			'protocol'  => Sidecar::PROTOCOL,
			'index-row' => Table::VERSION,
			'session'   => Sidecar::DOCUMENT,
		),
	)
);
