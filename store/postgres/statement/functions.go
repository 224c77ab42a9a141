package statement

import "strings"

// kinds are the permitted nodes of a statement's tree. PostgreSQL 16 shortened some names.
var kinds = set(`
	QUERY RANGETBLENTRY RTE RTEPERMISSIONINFO ALIAS FROMEXPR JOINEXPR RANGETBLREF RANGETBLFUNCTION TARGETENTRY
	COMMONTABLEEXPR CTESEARCHCLAUSE CTECYCLECLAUSE SETOPERATIONSTMT SORTGROUPCLAUSE GROUPINGSET WINDOWCLAUSE
	VAR CONST FUNCEXPR NAMEDARGEXPR OPEXPR DISTINCTEXPR NULLIFEXPR SCALARARRAYOPEXPR BOOLEXPR SUBLINK FIELDSELECT RELABELTYPE
	COERCEVIAIO ARRAYCOERCEEXPR CONVERTROWTYPEEXPR COLLATEEXPR CASEEXPR CASE CASEWHEN WHEN CASETESTEXPR ARRAYEXPR ARRAY ROWEXPR ROW
	ROWCOMPAREEXPR ROWCOMPARE COALESCEEXPR COALESCE MINMAXEXPR MINMAX SQLVALUEFUNCTION NULLTEST BOOLEANTEST AGGREF GROUPINGFUNC
	WINDOWFUNC WINDOWFUNCRUNCONDITION SUBSCRIPTINGREF`)

// functions are the permitted functions, besides casts between the server's own types: they compute from their arguments, or
// return the time. None reads or writes files, settings, catalogues or large objects, waits, locks, signals, reaches another
// server or executes text as a statement. None collects many values into one or produces a long value from a short call (repeat,
// lpad, array_agg, string_agg): the server does not limit the memory of a connection.
//
//nolint:gochecknoglobals // a table
var functions = set(`
	abs acos acosd acosh age any_value ascii asin asind asinh atan atan2 atan2d atand atanh avg bit_and bit_count bit_length bit_or bit_xor
	bool_and bool_or btrim cardinality cbrt ceil ceiling char_length character_length chr clock_timestamp corr cos cosd
	cosh cot cotd count covar_pop covar_samp cume_dist date_add date_bin date_part date_subtract date_trunc decode degrees
	dense_rank div encode erf erfc every exp extract factorial first_value floor gcd generate_series generate_subscripts
	get_bit get_byte initcap isfinite json_array_length json_extract_path json_extract_path_text json_typeof
	jsonb_array_length jsonb_extract_path jsonb_extract_path_text jsonb_typeof justify_days justify_hours justify_interval lag
	last_value lcm lead left length like_escape ln log log10 lower ltrim make_date make_interval make_time make_timestamp make_timestamptz
	max md5 min min_scale mod mode now nth_value ntile num_nonnulls num_nulls octet_length overlaps percent_rank
	percentile_cont percentile_disc pi position pow power radians random rank regexp_count regexp_instr regexp_like regexp_match
	regexp_matches regexp_split_to_array regexp_split_to_table regexp_substr regr_avgx regr_avgy regr_count regr_intercept
	regr_r2 regr_slope regr_sxx regr_sxy regr_syy reverse right round row_number rtrim scale sha224 sha256 sha384 sha512 sign
	similar_to_escape sin sind sinh split_part sqrt starts_with statement_timestamp stddev stddev_pop stddev_samp string_to_array
	string_to_table strpos substr substring sum tan tand tanh timezone to_char to_date to_hex to_number to_timestamp
	transaction_timestamp translate trim_scale trunc unnest upper var_pop var_samp variance width_bucket`)

// growing are functions, including those behind operators, whose value is longer than each of their arguments. A
// statement may use few of them, and none in a recursive part.
//
//nolint:gochecknoglobals // a table
var growing = set(`
	textcat textanycat anytextcat byteacat bitcat array_cat array_append array_prepend jsonb_concat tsvector_concat tsquery_and
	tsquery_or concat concat_ws replace regexp_replace overlay json_build_object jsonb_build_object row_to_json to_json to_jsonb`)

// timescale are the permitted functions of TimescaleDB.
var timescale = set("time_bucket first last") //nolint:gochecknoglobals // a table

func set(words string) map[string]bool {
	m := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		m[word] = true
	}
	return m
}
