<?php
/**
 * Rows on standard output.
 *
 * @package Coding_Agents\Sessions
 */

declare( strict_types=1 );

namespace Coding_Agents\Sessions\CLI;

/**
 * Prints rows page by page, so that their number does not matter. Machine formats are written here and not by WP-CLI,
 * whose JSON drops text that is not UTF-8 and whose YAML cannot be read back.
 */
final class Rows {

	/**
	 * How a text begins that a spreadsheet would run as a formula.
	 */
	private const FORMULA = "=+-@\t\r\n";

	/**
	 * Prints rows.
	 *
	 * @param iterable $pages  Lists of rows.
	 * @param string   $format One of table, json, csv, yaml, ids.
	 * @param string[] $fields Columns, in order.
	 */
	public static function show( iterable $pages, string $format, array $fields ): void {
		if ( 'table' === $format ) {
			$rows = array();
			foreach ( $pages as $page ) {
				$rows = array_merge( $rows, $page );
			}
			Output::table( $rows, $fields );
			return;
		}
		$empty = true;
		foreach ( $pages as $page ) {
			$bytes = '';
			foreach ( $page as $row ) {
				$cells  = 'ids' === $format ? $row : array_replace( array_flip( $fields ), array_intersect_key( $row, array_flip( $fields ) ) );
				$bytes .= ( $empty ? self::begin( $format, $fields ) : self::between( $format ) ) . self::row( $cells, $format );
				$empty  = false;
			}
			Output::data( $bytes );
		}
		Output::data( self::finish( $format, $fields, $empty ) );
	}

	/**
	 * Returns what stands before the first row.
	 *
	 * @param string   $format Format.
	 * @param string[] $fields Columns.
	 */
	private static function begin( string $format, array $fields ): string {
		$begin = array(
			'json' => '[',
			'yaml' => "---\n",
			'csv'  => self::csv( $fields ),
		);
		return $begin[ $format ] ?? '';
	}

	/**
	 * Returns what stands between two rows.
	 *
	 * @param string $format Format.
	 */
	private static function between( string $format ): string {
		return 'json' === $format ? ",\n" : '';
	}

	/**
	 * Returns what stands after the last row, or in place of all.
	 *
	 * @param string   $format Format.
	 * @param string[] $fields Columns.
	 * @param bool     $empty  There was no row.
	 */
	private static function finish( string $format, array $fields, bool $empty ): string {
		if ( 'json' === $format ) {
			return $empty ? "[]\n" : "]\n";
		}
		if ( ! $empty ) {
			return '';
		}
		return 'yaml' === $format ? "--- []\n" : self::begin( $format, $fields );
	}

	/**
	 * Returns a row.
	 *
	 * @param array  $row    Columns to print.
	 * @param string $format Format.
	 */
	private static function row( array $row, string $format ): string {
		if ( 'json' === $format ) {
			return Output::json( $row );
		}
		if ( 'ids' === $format ) {
			return Output::clean( $row['unified_id'] ) . "\n";
		}
		if ( 'csv' === $format ) {
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
