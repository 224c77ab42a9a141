package statement

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"voltbus/fault"
	"voltbus/store/duckdb/engine"
)

var errNotRead = errors.New("only one statement that reads is answered: SELECT, WITH, DESCRIBE, SHOW or EXPLAIN")

func refused(subject, text string) error {
	return fault.E("duckdb.SQL", fault.Refused, subject, errors.New(strings.TrimSpace(subject+" "+text)))
}

// readingWords begin the statements that are answered. DuckDB takes others, such as PRAGMA, for a
// SELECT as well.
const readingWords = " SELECT WITH FROM VALUES DESCRIBE DESC SHOW SUMMARIZE EXPLAIN "

// judge refuses a statement that is not a single one that reads what the task names, with functions of the list.
// It judges what DuckDB's parser makes of it. EXPLAIN is judged by what it explains.
func judge(ctx context.Context, c *engine.Conn, t *Task) (explained bool, err error) {
	word, rest := firstWord(t.Statement)
	if strings.ContainsRune(t.Statement, 0) {
		return false, refused("", errNotRead.Error())
	}
	if word == "" || !strings.Contains(readingWords, " "+word+" ") {
		if e := engine.AsError(c.Parse(t.Statement)); e != nil && strings.HasPrefix(e.Text, "Parser Error") {
			return false, e
		}
		return false, refused("", errNotRead.Error())
	}
	text := t.Statement
	if word == "EXPLAIN" {
		explained, text = true, rest
		if next, behind := firstWord(rest); next == "ANALYZE" {
			text = behind
		}
	}
	tree, err := parse(ctx, c, text)
	if err != nil {
		return explained, err
	}
	j := &judgement{tables: slices.Clone(t.Tables)}
	j.names(tree)
	return explained, j.look(tree, 0)
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

// judgement walks through a statement's tree.
type judgement struct{ tables []string }

// names adds the names of all common table expressions to those that may be used.
func (j *judgement) names(node any) {
	switch n := node.(type) {
	case []any:
		for _, v := range n {
			j.names(v)
		}
	case map[string]any:
		if m, ok := n["cte_map"].(map[string]any); ok {
			list, _ := m["map"].([]any)
			for _, v := range list {
				if pair, ok := v.(map[string]any); ok {
					j.tables = append(j.tables, strings.ToLower(word(pair, "key")))
				}
			}
		}
		for _, v := range n {
			j.names(v)
		}
	}
}

const maxDepth = 2000

func (j *judgement) look(node any, depth int) error {
	if depth > maxDepth {
		return refused("", "the statement is nested too deeply; write it flat")
	}
	switch n := node.(type) {
	case []any:
		for _, v := range n {
			if err := j.look(v, depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		if err := j.node(n); err != nil {
			return err
		}
		for key, v := range n {
			if key == "value" && n["class"] == "CONSTANT" {
				continue
			}
			if err := j.look(v, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// node judges one node of the tree.
func (j *judgement) node(n map[string]any) error {
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
		return j.table(n)
	case "SHOW_REF":
		if name := word(n, "table_name"); name != "" && name != `"tables"` && !j.known(name) {
			return refused(fmt.Sprintf("SHOW %.60s", name), "is not answered; SHOW TABLES is")
		}
	}
	return nil
}

func (j *judgement) table(n map[string]any) error {
	name, schema, catalog := word(n, "table_name"), word(n, "schema_name"), word(n, "catalog_name")
	if (schema == "" || schema == "main") && catalog == "" && j.known(name) {
		return nil
	}
	if looksLikeFile(name) || schema != "" || catalog != "" {
		return refused(fmt.Sprintf("%.60q", name), "may not be read: "+strings.Join(j.tables[:min(2, len(j.tables))], " and ")+" are what there is")
	}
	return fault.E("duckdb.SQL", fault.Invalid, name, fmt.Errorf("Catalog Error: Table with name %.60s does not exist; %s are what there is", //nolint:staticcheck // as DuckDB says it
		name, strings.Join(j.tables[:min(2, len(j.tables))], " and ")))
}

func looksLikeFile(name string) bool { return strings.ContainsAny(name, "./:*\\") }

func (j *judgement) known(name string) bool {
	return slices.Contains(j.tables, strings.ToLower(strings.Trim(name, `"`)))
}

func word(n map[string]any, key string) string {
	text, _ := n[key].(string)
	return text
}

// firstWord returns the word that a statement begins with, behind comments and brackets, and what follows it.
func firstWord(statement string) (first, rest string) {
	for {
		statement = strings.TrimLeft(statement, " \t\r\n(")
		switch {
		case strings.HasPrefix(statement, "--"):
			_, statement, _ = strings.Cut(statement, "\n")
		case strings.HasPrefix(statement, "/*"):
			_, statement, _ = strings.Cut(statement, "*/")
		default:
			end := strings.IndexFunc(statement, func(r rune) bool { return !unicode.IsLetter(r) })
			if end < 0 {
				end = len(statement)
			}
			return strings.ToUpper(statement[:min(end, 20)]), statement[min(end, len(statement)):]
		}
	}
}
