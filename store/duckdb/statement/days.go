package statement

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"voltbus/store/duckdb/engine"
)

// A statement over all readings of millions of meters would first have to wait until they are in files. So the days that it reads are
// looked up in its tree. What is found may hold more days than are read, never fewer: each reference to a dated view must stand in the FROM
// of a SELECT whose WHERE bounds it by terms that hold for every row of the result; otherwise all days are needed.

// days finds what a statement needs of the views of a Source.
type days struct {
	ctx    context.Context //nolint:containedctx // it lives as long as one call
	c      *engine.Conn
	tables map[string]Dated
	need   Need
	open   bool // a reference without a bound
}

// needs returns what the tree needs of a Source; nil if nothing.
func needs(ctx context.Context, c *engine.Conn, tree any, tables []Dated) *Need {
	d := &days{ctx: ctx, c: c, tables: map[string]Dated{}, need: Need{From: AllDays, To: -AllDays}}
	for _, t := range tables {
		d.tables[t.Name] = t
	}
	d.walk(tree)
	if len(d.need.Tables) == 0 {
		return nil
	}
	if d.open {
		d.need.From, d.need.To = -AllDays, AllDays
	}
	return &d.need
}

func (d *days) walk(node any) {
	switch n := node.(type) {
	case []any:
		for _, v := range n {
			d.walk(v)
		}
	case map[string]any:
		d.object(n)
	}
}

func (d *days) object(n map[string]any) {
	switch n["type"] {
	case "BASE_TABLE":
		if t, is := d.table(n); is && t.Day != "" {
			d.open = true
		}
		return
	case "SHOW_REF":
		d.shown(n)
		return
	case "SELECT_NODE":
		for key, v := range n {
			if key != "from_table" {
				d.walk(v)
			}
		}
		d.from(n["from_table"], conjuncts(n["where_clause"], nil), true)
		return
	}
	for _, v := range n {
		d.walk(v)
	}
}

// shown looks at DESCRIBE, SHOW TABLES and SUMMARIZE: only the last one reads rows.
func (d *days) shown(n map[string]any) {
	if name := word(n, "table_name"); name == `"tables"` {
		for name := range d.tables {
			d.uses(name)
		}
	}
	open, from, to := d.open, d.need.From, d.need.To
	d.walk(n["query"])
	if n["show_type"] != "SUMMARY" {
		d.open, d.need.From, d.need.To = open, from, to
	}
}

// table notes a reference to a view.
func (d *days) table(n map[string]any) (Dated, bool) {
	t, is := d.tables[strings.ToLower(word(n, "table_name"))]
	if is {
		d.uses(t.Name)
	}
	return t, is
}

func (d *days) uses(name string) {
	if !slices.Contains(d.need.Tables, name) {
		d.need.Tables = append(d.need.Tables, name)
	}
}

// from looks at what stands in FROM. bounded tells that the conditions hold for it: not below a join that picks rows by their
// neighbours or places.
func (d *days) from(node any, where []map[string]any, bounded bool) {
	n, _ := node.(map[string]any)
	switch n["type"] {
	case "JOIN":
		bounded = bounded && (n["ref_type"] == "REGULAR" || n["ref_type"] == "CROSS" || n["ref_type"] == "NATURAL")
		d.walk(n["condition"])
		d.from(n["left"], where, bounded)
		d.from(n["right"], where, bounded)
	case "BASE_TABLE":
		t, is := d.table(n)
		if !is || t.Day == "" {
			return
		}
		aliases, _ := n["column_name_alias"].([]any)
		from, to := int64(-AllDays), int64(AllDays)
		if bounded && len(aliases) == 0 {
			from, to = d.bounds(&t, strings.ToLower(word(n, "alias")), where)
		}
		d.need.From, d.need.To = min(d.need.From, from), max(d.need.To, to)
	default:
		d.walk(node)
	}
}

// conjuncts lists the terms of a condition that all hold for a row of the result.
func conjuncts(node any, list []map[string]any) []map[string]any {
	n, is := node.(map[string]any)
	if !is {
		return list
	}
	if n["type"] == "CONJUNCTION_AND" {
		children, _ := n["children"].([]any)
		for _, c := range children {
			list = conjuncts(c, list)
		}
		return list
	}
	return append(list, n)
}

// bounds returns the days of a view to which terms bound it.
func (d *days) bounds(t *Dated, alias string, where []map[string]any) (from, to int64) {
	from, to = -AllDays, AllDays
	for _, n := range where {
		low, high := d.term(t, alias, n)
		from, to = max(from, low), min(to, high)
	}
	return from, to
}

// term returns the bounds of one term.
func (d *days) term(t *Dated, alias string, n map[string]any) (from, to int64) {
	left, right := n["left"], n["right"]
	kind, _ := n["type"].(string)
	if _, is := slackOf(t, alias, right); is {
		left, right = right, left
		kind = strings.NewReplacer("GREATER", "LESS", "LESS", "GREATER").Replace(kind)
	}
	switch kind {
	case "COMPARE_GREATERTHAN", "COMPARE_GREATERTHANOREQUALTO":
		from, _ = d.between(t, alias, left, right)
		return from, AllDays
	case "COMPARE_LESSTHAN", "COMPARE_LESSTHANOREQUALTO":
		_, to = d.between(t, alias, left, right)
		return -AllDays, to
	case "COMPARE_EQUAL":
		return d.between(t, alias, left, right)
	case "COMPARE_BETWEEN":
		from, _ = d.between(t, alias, n["input"], n["lower"])
		_, to = d.between(t, alias, n["input"], n["upper"])
		return from, to
	case "COMPARE_IN":
		if children, _ := n["children"].([]any); len(children) > 1 {
			return d.between(t, alias, children[0], children[1:]...)
		}
	}
	return -AllDays, AllDays
}

// between returns the days from the first to the last of values to which a column is compared.
func (d *days) between(t *Dated, alias string, column any, values ...any) (from, to int64) {
	slack, is := slackOf(t, alias, column)
	if !is {
		return -AllDays, AllDays
	}
	from, to = AllDays, -AllDays
	for _, v := range values {
		day, exact, ok := d.day(v)
		if !ok {
			return -AllDays, AllDays
		}
		more := slack
		if !exact {
			more++ // a moment, maybe with a time zone
		}
		from, to = min(from, day-more), max(to, day+more)
	}
	return from, to
}

// slackOf reports whether an expression is the column with the day of a view, or that with the moment, and by how many days it differs
// from the local day.
func slackOf(t *Dated, alias string, node any) (slack int64, is bool) {
	n, _ := node.(map[string]any)
	names, _ := n["column_names"].([]any)
	if n["class"] != "COLUMN_REF" || len(names) == 0 || len(names) > 2 {
		return 0, false
	}
	last, _ := names[len(names)-1].(string)
	if first, _ := names[0].(string); len(names) == 2 && strings.ToLower(first) != alias && (alias != "" || strings.ToLower(first) != t.Name) {
		return 0, false
	}
	switch strings.ToLower(last) {
	case t.Day:
		return 0, true
	case t.End:
		return 1, true
	}
	return 0, false
}

// day evaluates an expression that depends on no row. exact tells that it is a date.
func (d *days) day(node any) (day int64, exact, ok bool) {
	value, is := constant(node)
	if !is {
		return 0, false, false
	}
	tree, err := parse(d.ctx, d.c, "SELECT CAST(0 AS VARCHAR), CAST(0 AS TIMESTAMP)")
	if err != nil {
		return 0, false, false
	}
	tree, _ = constant(tree)
	query, _ := tree.(map[string]any)["node"].(map[string]any)
	list, _ := query["select_list"].([]any)
	for _, one := range list {
		if column, is := one.(map[string]any); is {
			column["child"] = value
		}
	}
	whole, err := json.Marshal(map[string]any{"error": false, "statements": []any{tree}})
	if err != nil {
		return 0, false, false
	}
	err = d.c.Query(d.ctx, "SELECT * FROM json_execute_serialized_sql("+engine.Quote(string(whole))+")", func(k *engine.Chunk) error {
		if ok = k.Valid(1).Has(0); ok {
			day = int64(math.Floor(float64(engine.Numbers[int64](k, 1)[0]) / 86_400e6))
			_, err := time.Parse(time.DateOnly, k.Texts(0).At(0))
			exact = err == nil
		}
		return nil
	})
	return day, exact, ok && err == nil
}

// constant returns a copy of an expression without its places in the text; false if its value differs by row or from call to call.
func constant(node any) (any, bool) {
	switch n := node.(type) {
	case []any:
		out := make([]any, len(n))
		for i, v := range n {
			value, is := constant(v)
			if !is {
				return nil, false
			}
			out[i] = value
		}
		return out, true
	case map[string]any:
		if class := word(n, "class"); slices.Contains([]string{"COLUMN_REF", "SUBQUERY", "PARAMETER", "WINDOW", "LAMBDA", "STAR"}, class) {
			return nil, false
		}
		if name := strings.ToLower(word(n, "function_name")); strings.Contains(name, "random") || strings.Contains(name, "uuid") {
			return nil, false
		}
		out := make(map[string]any, len(n))
		for key, v := range n {
			if key == "query_location" {
				continue // a number that the engine's own reader takes only as it wrote it
			}
			value, is := constant(v)
			if !is {
				return nil, false
			}
			out[key] = value
		}
		return out, true
	}
	return node, true
}
