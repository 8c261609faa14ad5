<?php
/**
 * Rows on standard output.
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions\CLI;

/**
 * Prints rows as they come, so that their number does not matter. Machine formats are written here and not by WP-CLI,
 * whose JSON drops text that is not UTF-8 and whose YAML cannot be read back.
 */
final class Rows {

	/**
	 * How a text begins that a spreadsheet would run as a formula.
	 */
	private const FORMULA = "=+-@\t\r\n";

	/**
	 * One of table, json, csv, yaml, ids.
	 *
	 * @var string
	 */
	private string $format;

	/**
	 * Columns, in order.
	 *
	 * @var string[]
	 */
	private array $fields;

	/**
	 * Whether there was no row yet.
	 *
	 * @var bool
	 */
	private bool $empty = true;

	/**
	 * Rows of a table, whose columns are as wide as the widest of all.
	 *
	 * @var array[]
	 */
	private array $table = array();

	/**
	 * Sets format and columns.
	 *
	 * @param string   $format One of table, json, csv, yaml, ids.
	 * @param string[] $fields Columns, in order.
	 */
	public function __construct( string $format, array $fields ) {
		$this->format = $format;
		$this->fields = $fields;
	}

	/**
	 * Prints some rows and what stands before and after them.
	 *
	 * @param array[]  $rows   All rows.
	 * @param string   $format One of table, json, csv, yaml, ids.
	 * @param string[] $fields Columns, in order.
	 */
	public static function show( array $rows, string $format, array $fields ): void {
		$printer = new self( $format, $fields );
		$printer->add( $rows );
		$printer->finish();
	}

	/**
	 * Prints rows.
	 *
	 * @param array[] $rows The next rows.
	 */
	public function add( array $rows ): void {
		if ( 'table' === $this->format ) {
			$this->table = array_merge( $this->table, $rows );
			return;
		}
		$bytes = '';
		foreach ( $rows as $row ) {
			$cells       = 'ids' === $this->format ? $row : array_replace( array_flip( $this->fields ), array_intersect_key( $row, array_flip( $this->fields ) ) );
			$bytes      .= ( $this->empty ? $this->begin() : $this->between() ) . $this->row( $cells );
			$this->empty = false;
		}
		Output::data( $bytes );
	}

	/**
	 * Prints what stands after the last row, or in place of all.
	 */
	public function finish(): void {
		if ( 'table' === $this->format ) {
			Output::table( $this->table, $this->fields );
		} elseif ( 'json' === $this->format ) {
			Output::data( $this->empty ? "[]\n" : "]\n" );
		} elseif ( $this->empty ) {
			Output::data( 'yaml' === $this->format ? "--- []\n" : $this->begin() );
		}
	}

	/**
	 * Returns what stands before the first row.
	 */
	private function begin(): string {
		$begin = array(
			'json' => '[',
			'yaml' => "---\n",
			'csv'  => self::csv( $this->fields ),
		);
		return $begin[ $this->format ] ?? '';
	}

	/**
	 * Returns what stands between two rows.
	 */
	private function between(): string {
		return 'json' === $this->format ? ",\n" : '';
	}

	/**
	 * Returns a row.
	 *
	 * @param array $row Columns to print.
	 */
	private function row( array $row ): string {
		if ( 'json' === $this->format ) {
			return Output::json( $row );
		}
		if ( 'ids' === $this->format ) {
			return Output::clean( $row['unified_id'] ) . "\n";
		}
		if ( 'csv' === $this->format ) {
			return self::csv( array_map( array( self::class, 'guarded' ), $row ) );
		}
		$lines = '';
		foreach ( $row as $name => $value ) {
			$lines .= ( '' === $lines ? '- ' : '  ' ) . "$name: " . self::scalar( $value ) . "\n";
		}
		return $lines;
	}

	/**
	 * Returns a line of CSV.
	 *
	 * @param array $cells Texts.
	 */
	private static function csv( array $cells ): string {
		$buffer = fopen( 'php://memory', 'w+b' );
		fputcsv( $buffer, $cells, ',', '"', '' );
		rewind( $buffer );
		return (string) stream_get_contents( $buffer );
	}

	/**
	 * Returns a cell of CSV: an apostrophe keeps spreadsheets from running text as a formula.
	 *
	 * @param mixed $value Value of a column.
	 */
	private static function guarded( $value ): string {
		if ( is_int( $value ) || is_float( $value ) ) {
			return self::plain_number( $value );
		}
		$text = is_array( $value ) ? Output::json( $value ) : (string) $value;
		return Output::clean( '' !== $text && false !== strpos( self::FORMULA, $text[0] ) ? "'$text" : $text );
	}

	/**
	 * Returns a value as YAML: JSON, which YAML includes, except for a few characters.
	 *
	 * @param mixed $value Value of a column.
	 */
	private static function scalar( $value ): string {
		if ( is_int( $value ) || is_float( $value ) ) {
			return self::plain_number( $value );
		}
		return (string) preg_replace_callback(
			'/[\x{7f}-\x{9f}\x{2028}\x{2029}\x{feff}\x{fffe}\x{ffff}]/u',
			static fn( array $found ): string => sprintf( '\\u%04x', mb_ord( $found[0], 'UTF-8' ) ),
			Output::json( $value )
		);
	}

	/**
	 * Returns a number without an exponent, which some readers take for text.
	 *
	 * @param int|float $value A number.
	 */
	private static function plain_number( $value ): string {
		return is_int( $value ) ? (string) $value : rtrim( rtrim( number_format( $value, 6, '.', '' ), '0' ), '.' );
	}
}
