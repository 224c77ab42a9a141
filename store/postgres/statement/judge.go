// Package statement checks SQL statements that people send to a PostgreSQL server: only queries of the history's views and those of
// a metering store, with listed functions, pass. The server's own parser analyses a statement: it creates a temporary view of it, whose tree is
// read and which is neither executed nor kept.
package statement

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"voltbus/fault"
)

// Bounds of one statement. The server limits the memory of an operation (work_mem) and of a value (1 GB), but not that
// of a connection, so long texts must neither grow much nor be held often.
const (
	MaxText      = 32 << 10 // bytes
	maxRelations = 32       // the planner examines each day of each
	maxCalls     = 256      // of functions and operators
	maxGrowing   = 6        // of functions that lengthen values
)

const op = "postgres.SQL"

var (
	errNotRead = errors.New("only one statement that reads is answered: SELECT, WITH, VALUES, TABLE or EXPLAIN of one; EXPLAIN stands first, with no comment before it")
	errText    = fmt.Errorf("the statement is longer than %d kB; ask for patterns or ranges instead of lists", MaxText>>10)
)

var (
	reading  = regexp.MustCompile(`(?is)^(?:\s|\(|--[^\n]*\n|/\*.*?\*/)*(SELECT|WITH|VALUES|TABLE|EXPLAIN)\b`)
	explains = regexp.MustCompile(`(?is)^\s*EXPLAIN\b\s*((?:\([a-z0-9_,\s]*\))|(?:ANALY[SZ]E\b\s*)?(?:VERBOSE\b)?)`)
)

// Views are the views that a statement may read: those of the history, and those of a metering store in the same schema.
func Views() []string {
	return []string{"samples", "points", "readings", "reading_versions", "meters", "channels", "meter_events"}
}

// Statement is a statement that looks like a query.
type Statement struct {
	explain string // EXPLAIN with its options, "" for a plain query
	text    string
}

// Read refuses anything that does not look like a single query.
func Read(text string) (*Statement, error) {
	begins := reading.FindStringSubmatch(text)
	explained := explains.FindStringSubmatchIndex(text)
	if begins == nil || strings.EqualFold(begins[1], "EXPLAIN") && explained == nil {
		return nil, refused("%w", errNotRead)
	}
	if len(text) > MaxText {
		return nil, fault.E(op, fault.Invalid, "", errText)
	}
	s := &Statement{text: text}
	if m := explained; m != nil {
		s.explain, s.text = "EXPLAIN "+text[m[2]:m[3]]+" ", text[m[1]:]
	}
	s.text = strings.TrimRight(s.text, "; \t\r\n")
	return s, nil
}

// Query is the text to execute. Judge checks exactly the text that is executed, so that a bracket in it cannot deceive
// either.
func (s *Statement) Query() string { return s.explain + "SELECT * FROM " + s.inner() }

func (s *Statement) inner() string { return "(" + s.text + "\n) AS statement" }

func refused(format string, args ...any) error {
	return fault.E(op, fault.Refused, "", fmt.Errorf(format, args...))
}

// Judge refuses a statement that does more than read the views of the schema, according to the server's parser. The
// transaction must be writable, and be rolled back afterwards. Server errors are returned unchanged.
func (s *Statement) Judge(ctx context.Context, tx pgx.Tx, schema string) error {
	if _, err := tx.Exec(ctx, "CREATE TEMPORARY VIEW voltbus_statement AS SELECT NULL::int AS judged FROM "+s.inner()); err != nil {
		return err
	}
	var tree string
	var known []uint32
	err := tx.QueryRow(ctx, `SELECT ev_action::text, ARRAY['pg_temp.voltbus_statement'::regclass]::oid[] ||
		(SELECT array_agg(to_regclass($1 || '.' || v)::oid) FROM unnest($2::text[]) v WHERE to_regclass($1 || '.' || v) IS NOT NULL)
		FROM pg_rewrite WHERE ev_class = 'pg_temp.voltbus_statement'::regclass`, schema, Views()).Scan(&tree, &known)
	if err != nil {
		return err
	}
	t := &judged{tree: tree}
	if err := t.shape(known); err != nil {
		return err
	}
	return t.calls(ctx, tx)
}

var (
	nodes     = regexp.MustCompile(`\{([A-Z0-9_]+)`)
	commands  = regexp.MustCompile(`[ ]:commandType (\d+)`)
	relations = regexp.MustCompile(`[ ]:relid (\d+)`)
	called    = regexp.MustCompile(`[ ]:(?:funcid|aggfnoid|winfnoid) (\d+)`)
	operated  = regexp.MustCompile(`[ ]:(?:opno (\d+)|opnos \(o([ 0-9]+)\))`)
	numbers   = regexp.MustCompile(`\d+`)
)

// judged is the tree of a statement in PostgreSQL's notation: {KIND :field value …}. In names, blanks, braces
// and brackets are escaped with a backslash, so that no name looks like a node or a field.
type judged struct{ tree string }

// shape checks nodes and relations.
func (j *judged) shape(known []uint32) error {
	for _, m := range nodes.FindAllStringSubmatch(j.tree, -1) {
		if !kinds[m[1]] {
			return refused("the statement uses %s, which is not on the list of what a statement may consist of", strings.ToLower(m[1]))
		}
	}
	for _, m := range commands.FindAllStringSubmatch(j.tree, -1) {
		if m[1] != "1" {
			return refused("%w", errNotRead)
		}
	}
	if strings.Contains(j.tree, " :subLinkType 6") {
		return refused("ARRAY(SELECT …) may not be used: it collects many rows into one value")
	}
	of := oids(relations, j.tree)
	for _, oid := range of {
		if oid != 0 && !slices.Contains(known, oid) {
			return refused("only %s may be read", strings.Join(Views(), ", "))
		}
	}
	if len(of) > maxRelations {
		return refused("the statement names more than %d tables", maxRelations)
	}
	return nil
}

// oids returns the numbers of all matches.
func oids(pattern *regexp.Regexp, tree string) (list []uint32) {
	for _, m := range pattern.FindAllStringSubmatch(tree, -1) {
		for _, group := range m[1:] {
			for _, n := range numbers.FindAllString(group, -1) {
				oid, err := strconv.ParseUint(n, 10, 32)
				if err == nil {
					list = append(list, uint32(oid))
				}
			}
		}
	}
	return list
}

const (
	askFunctions = `SELECT p.oid, p.proname, p.proname, p.pronamespace = 'pg_catalog'::regnamespace,
		EXISTS (SELECT FROM pg_cast c WHERE c.castfunc = p.oid) AND p.pronamespace = 'pg_catalog'::regnamespace,
		EXISTS (SELECT FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid
			AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND e.extname = 'timescaledb')
		FROM pg_proc p WHERE p.oid = ANY($1)`
	askOperators = `SELECT o.oid, o.oprname, p.proname, o.oprnamespace = 'pg_catalog'::regnamespace AND p.pronamespace = 'pg_catalog'::regnamespace, true, false
		FROM pg_operator o JOIN pg_proc p ON p.oid = o.oprcode WHERE o.oid = ANY($1)`
)

// calls checks functions and operators. All built-in operators compute from their operands.
func (j *judged) calls(ctx context.Context, tx pgx.Tx) error {
	used, longer := 0, 0
	for _, kind := range []struct {
		query string
		oids  []uint32
	}{{askFunctions, oids(called, j.tree)}, {askOperators, oids(operated, j.tree)}} {
		used += len(kind.oids)
		list, err := lookUp(ctx, tx, kind.query, kind.oids)
		if err != nil {
			return err
		}
		for _, oid := range kind.oids {
			c, ok := list[oid]
			if !ok || !c.allowed() {
				return refused("%.60q may not be used: it is not on the list of functions", c.name)
			}
			if growing[c.function] {
				longer++
			}
		}
	}
	switch {
	case used > maxCalls:
		return refused("the statement calls more than %d functions and operators", maxCalls)
	case longer > maxGrowing:
		return refused("the statement puts values together more than %d times (||, concat, replace)", maxGrowing)
	case longer > 0 && strings.Contains(j.tree, " :hasRecursive true"):
		return refused("WITH RECURSIVE may not put values together (||, concat, replace): they would grow without end")
	}
	return nil
}

// call is a function or an operator.
type call struct {
	name, function   string
	server, computes bool // it is built in; it is a cast or an operator
	timescale        bool // it belongs to TimescaleDB
}

func (c *call) allowed() bool {
	if c.server {
		return c.computes || functions[c.function] || growing[c.function]
	}
	return c.timescale && timescale[c.function]
}

func lookUp(ctx context.Context, tx pgx.Tx, query string, oids []uint32) (map[uint32]call, error) {
	list := make(map[uint32]call)
	rows, err := tx.Query(ctx, query, oids)
	if err != nil {
		return nil, err
	}
	var oid uint32
	var c call
	_, err = pgx.ForEachRow(rows, []any{&oid, &c.name, &c.function, &c.server, &c.computes, &c.timescale}, func() error {
		list[oid] = c
		return nil
	})
	return list, err
}
