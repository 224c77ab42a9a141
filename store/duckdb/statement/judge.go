package statement

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	duck "github.com/duckdb/duckdb-go-bindings"

	"voltbus/fault"
	"voltbus/store/duckdb/engine"
)

var errNotRead = errors.New("only one statement that reads is answered: SELECT, WITH, DESCRIBE, SHOW or EXPLAIN; EXPLAIN stands first, with no comment before it or the statement that it explains")

func refused(subject, text string) error {
	return fault.E("duckdb.SQL", fault.Refused, subject, errors.New(strings.TrimSpace(subject+" "+text)))
}

// explains matches the prefix of an explained statement. It contains no comment, so that its end is unambiguous.
var explains = regexp.MustCompile(`(?i)^[ \t\r\n]*EXPLAIN[ \t\r\n]+(ANALYZE[ \t\r\n]+)?([A-Z(])`)

// question is a statement with checked text.
type question struct {
	explain string // EXPLAIN with its option, "" for none
	text    string // the checked text, without explain
	need    *Need  // of a Source; nil if nothing
}

// prepare compiles exactly the checked text.
func (q *question) prepare(c *engine.Conn) (*engine.Stmt, error) {
	stmt, err := c.Prepare(q.explain + q.text)
	if err != nil {
		return nil, err
	}
	want := duck.StatementTypeSelect
	if q.explain != "" {
		want = duck.StatementTypeExplain
	}
	if stmt.Kind() != want {
		stmt.Close()
		return nil, refused("", errNotRead.Error())
	}
	return stmt, nil
}

// judge refuses anything but a single statement that reads the task's tables with listed functions. It checks
// the whole text as parsed by DuckDB; for EXPLAIN, everything after it.
func judge(ctx context.Context, c *engine.Conn, t *Task) (*question, error) {
	q := &question{text: t.Statement}
	tables := slices.Clone(t.Tables)
	for _, other := range t.Others {
		tables = append(tables, other.Name)
	}
	if strings.ContainsRune(q.text, 0) {
		return nil, refused("", errNotRead.Error())
	}
	if m := explains.FindStringSubmatchIndex(q.text); m != nil {
		if q.explain = "EXPLAIN "; m[2] >= 0 {
			q.explain = "EXPLAIN ANALYZE "
		}
		q.text = q.text[m[4]:]
	}
	tree, err := parse(ctx, c, q.text)
	if err != nil {
		return nil, err
	}
	j := &judgement{tables: tables, system: func() ([]string, error) { return systemTables(ctx, c) }}
	if err := j.look(tree, tables, 0); err != nil {
		return nil, err
	}
	q.need = needs(ctx, c, tree, t.Others)
	return q, nil
}

// systemTables returns the names of DuckDB's own tables.
func systemTables(ctx context.Context, c *engine.Conn) (names []string, err error) {
	err = c.Query(ctx, "SELECT view_name FROM duckdb_views() WHERE internal", func(ch *engine.Chunk) error {
		list := ch.Texts(0)
		for i := range ch.Rows {
			names = append(names, strings.ToLower(list.At(i)))
		}
		return nil
	})
	return names, err
}

// parse returns the tree of a single statement.
func parse(ctx context.Context, c *engine.Conn, statement string) (any, error) {
	var text string
	err := c.Query(ctx, "SELECT json_serialize_sql('"+strings.ReplaceAll(statement, "'", "''")+"')", func(ch *engine.Chunk) error {
		text = ch.Texts(0).At(0)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out struct {
		Error      bool   `json:"error"`
		Type       string `json:"error_type"`
		Message    string `json:"error_message"`
		Statements []any  `json:"statements"`
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return nil, refused("", "the statement cannot be judged")
	}
	switch {
	case out.Error && out.Type == "parser":
		return nil, fault.E("duckdb.SQL", fault.Invalid, "", errors.New("Parser Error: "+out.Message))
	case out.Error || len(out.Statements) != 1:
		return nil, refused("", errNotRead.Error())
	}
	return out.Statements[0], nil
}

// judgement walks a statement's tree. A scope holds the names of the tables usable at a position in it.
type judgement struct {
	tables []string
	system func() ([]string, error) // called at the first common table expression
	known  []string                 // the result of system
}

const maxDepth = 2000

func (j *judgement) look(node any, scope []string, depth int) error {
	if depth > maxDepth {
		return refused("", "the statement is nested too deeply; write it flat")
	}
	switch n := node.(type) {
	case []any:
		for _, v := range n {
			if err := j.look(v, scope, depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		return j.object(n, scope, depth)
	}
	return nil
}

func (j *judgement) object(n map[string]any, scope []string, depth int) error {
	if err := j.node(n, scope); err != nil {
		return err
	}
	scope, err := j.common(n, scope, depth)
	if err != nil {
		return err
	}
	for key, v := range n {
		if key == "cte_map" || key == "value" && n["class"] == "CONSTANT" {
			continue
		}
		if err := j.look(v, scope, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// plain is a name that is neither a file nor an address.
var plain = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// common checks the common table expressions of a node. It returns the scope of the rest of the node: with the name of each, which
// later ones may also use, and a recursive one itself.
func (j *judgement) common(n map[string]any, scope []string, depth int) ([]string, error) {
	ctes, _ := n["cte_map"].(map[string]any)
	list, _ := ctes["map"].([]any)
	for _, v := range list {
		pair, _ := v.(map[string]any)
		name := strings.ToLower(word(pair, "key"))
		if err := j.name(name); err != nil {
			return nil, err
		}
		outer := scope
		scope = append(slices.Clip(scope), name)
		if recursive(pair) {
			outer = scope
		}
		if err := j.look(pair["value"], outer, depth+1); err != nil {
			return nil, err
		}
	}
	return scope, nil
}

// name checks the name of a common table expression.
func (j *judgement) name(name string) (err error) {
	if !plain.MatchString(name) {
		return refused(fmt.Sprintf("%.60q", name), "may not be a name in WITH; write one of letters, digits and underscores")
	}
	if j.known == nil {
		if j.known, err = j.system(); err != nil {
			return err
		}
	}
	if slices.Contains(j.known, name) {
		return refused(fmt.Sprintf("%.60q", name), "may not be a name in WITH: a table of DuckDB has it; write another")
	}
	return nil
}

func recursive(pair map[string]any) bool {
	value, _ := pair["value"].(map[string]any)
	query, _ := value["query"].(map[string]any)
	node, _ := query["node"].(map[string]any)
	return node["type"] == "RECURSIVE_CTE_NODE"
}

// node checks one node of the tree.
func (j *judgement) node(n map[string]any, scope []string) error {
	if name, is := n["function_name"].(string); is {
		schema := word(n, "schema")
		if (schema != "" && schema != "main") || (word(n, "catalog") != "" && word(n, "catalog") != "system") || !allowed(strings.ToLower(name)) {
			return refused(fmt.Sprintf("%.60q", name), "may not be used: it is not on the list of functions")
		}
	}
	if class, is := n["class"].(string); is && !slices.Contains(classes, class) {
		return refused(class, "may not be used in a statement")
	}
	switch n["type"] {
	case "BASE_TABLE":
		return j.table(n, scope)
	case "SHOW_REF":
		// DESCRIBE and SUMMARIZE of a table contain a query of it, which is checked with the rest.
		name := word(n, "table_name")
		if (name != "" && name != `"tables"`) || word(n, "schema_name") != "" || word(n, "catalog_name") != "" {
			return refused(fmt.Sprintf("SHOW %.60s", name), "is not answered; SHOW TABLES is")
		}
	}
	return nil
}

func (j *judgement) table(n map[string]any, scope []string) error {
	name, schema, catalog := word(n, "table_name"), word(n, "schema_name"), word(n, "catalog_name")
	if (schema == "" || schema == "main") && catalog == "" && slices.Contains(scope, strings.ToLower(name)) {
		return nil
	}
	if looksLikeFile(name) || schema != "" || catalog != "" {
		return refused(fmt.Sprintf("%.60q", name), "may not be read: "+j.there()+" are what there is")
	}
	return fault.E("duckdb.SQL", fault.Invalid, name, fmt.Errorf("Catalog Error: Table with name %.60s does not exist; %s are what there is", //nolint:staticcheck // as DuckDB says it
		name, j.there()))
}

// there lists what may be read.
func (j *judgement) there() string {
	last := len(j.tables) - 1
	if last <= 0 {
		return strings.Join(j.tables, "")
	}
	return strings.Join(j.tables[:last], ", ") + " and " + j.tables[last]
}

func looksLikeFile(name string) bool { return strings.ContainsAny(name, "./:*\\") }

func word(n map[string]any, key string) string {
	text, _ := n[key].(string)
	return text
}
