<?php
/**
 * Run by "wp eval-file": writes rows of the link, a JSON array on standard input, as the plugin does when the sidecar
 * cannot. Prints the code of the error, if there is one.
 */

use Coding_Agents\Sessions\Connection;
use Coding_Agents\Sessions\Index;
use Coding_Agents\Sessions\Sidecar_Error;

$index = new Index( new Connection() );
try {
	foreach ( array_chunk( json_decode( stream_get_contents( STDIN ), true ), Index::BATCH ) as $rows ) {
		$index->upsert( $rows );
	}
} catch ( Sidecar_Error $error ) {
	echo $error->word();
}
