<?php
/**
 * The one exception of this plugin.
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions;

/**
 * An error with a code of schema/errors.json; the sidecar's own errors arrive as this, too.
 */
final class Sidecar_Error extends \RuntimeException {

	/**
	 * Code => exit status of the commands, and whether trying again may help.
	 */
	public const CODES = array(
		'INVALID_ARGUMENT'    => array(
			'exit'  => 2,
			'retry' => false,
		),
		'AGENT_NOT_FOUND'     => array(
			'exit'  => 3,
			'retry' => false,
		),
		'SESSION_NOT_FOUND'   => array(
			'exit'  => 3,
			'retry' => false,
		),
		'AMBIGUOUS_SESSION'   => array(
			'exit'  => 3,
			'retry' => false,
		),
		'PARSE_ERROR'         => array(
			'exit'  => 4,
			'retry' => false,
		),
		'INDEX_UNAVAILABLE'   => array(
			'exit'  => 5,
			'retry' => true,
		),
		'SIDECAR_UNAVAILABLE' => array(
			'exit'  => 5,
			'retry' => true,
		),
		'VERSION_MISMATCH'    => array(
			'exit'  => 6,
			'retry' => false,
		),
		'TIMEOUT'             => array(
			'exit'  => 7,
			'retry' => true,
		),
		'TOO_LARGE'           => array(
			'exit'  => 8,
			'retry' => false,
		),
		'INTERNAL_ERROR'      => array(
			'exit'  => 1,
			'retry' => false,
		),
	);

	/**
	 * Key of CODES.
	 *
	 * @var string
	 */
	private string $word;

	/**
	 * Unified ids; only with AMBIGUOUS_SESSION.
	 *
	 * @var string[]
	 */
	private array $candidates;

	/**
	 * Sets code, message and candidates.
	 *
	 * @param string   $word       Key of CODES; a code of a newer sidecar counts as INTERNAL_ERROR.
	 * @param string   $message    What was looked for and where; never content of a session.
	 * @param string[] $candidates Unified ids that fit.
	 */
	public function __construct( string $word, string $message, array $candidates = array() ) {
		parent::__construct( $message );
		$this->word       = isset( self::CODES[ $word ] ) ? $word : 'INTERNAL_ERROR';
		$this->candidates = $candidates;
	}

	/**
	 * Returns the code, a key of CODES.
	 */
	public function word(): string {
		return $this->word;
	}

	/**
	 * Returns the error as the PHP API hands it out: data holds exit, retry and, where several sessions fit, candidates.
	 */
	public function to_wp_error(): \WP_Error {
		$data = self::CODES[ $this->word ];
		if ( $this->candidates ) {
			$data['candidates'] = $this->candidates;
		}
		return new \WP_Error( $this->word, $this->getMessage(), $data );
	}
}
