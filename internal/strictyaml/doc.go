// Package strictyaml decodes YAML into structs that already hold their defaults, and reports all errors at once, each with file, line,
// key and what to write instead.
//
// Structs carry yaml tags: `yaml:"name"`, `yaml:",inline"` and `yaml:"-"`. A field without a tag
// has its name in lower case. Two more tags shape checks and messages:
//
//	enum:"duckdb,none"    the only texts allowed
//	example:"10s"         shown in "write one such as 10s"
//
// Durations are written with a unit (10s, 1h30m, 14d), times as RFC 3339 or a date. Types with
// UnmarshalText (sizes, addresses) say themselves what is wrong. A field of type yaml.Node or
// *yaml.Node is kept as it is. A key without a value keeps the default.
package strictyaml
