package web

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// reasoned are the packages whose errors and reasons reach a page: what refuses a request, and why a device, an agent, a
// destination or a neighbour does not do what it should. A folder that ends with /... includes those below.
var reasoned = []string{
	"api", "api/bound", "api/exchange", "api/login", "api/stream", "api/upload",
	"operation", "operation/agents", "operation/alarms", "operation/alerts", "operation/analysis", "operation/children", "operation/configuration",
	"operation/dashboards", "operation/documents", "operation/forward", "operation/history", "operation/judge", "operation/lab", "operation/metering",
	"operation/mqtt", "operation/nodelog", "operation/points", "operation/processes", "operation/schedules", "operation/sinks",
	"operation/tokens",
	"control", "control/access", "control/dispatch", "control/interlock", "control/model", "control/reservation", "control/term",
	"alarm", "alarm/escalation", "alarm/expression", "alarm/monitor", "schedule", "schedule/keeper",
	"document", "dashboard", "drawing", "point", "catalog", "identity", "identity/registry",
	"query", "analysis", "store/duckdb/statement",
	"device", "device/acquisition", "device/alarm", "device/line",
	"driver", "driver/bacnet", "driver/dnp3", "driver/modbus", "driver/mqtt", "driver/opcua", "driver/registry", "driver/sim",
	"protocol/bacnet/client", "protocol/bacnet/transaction", "protocol/dnp3/master", "protocol/opcua/client",
	"agent", "agent/description", "agent/installed", "agent/upload", "agent/workshop",
	"service", "uplink/children", "uplink/enrol", "uplink/federation", "uplink/receiver", "uplink/remote", "uplink/sender", "uplink/tree",
	"sink", "sink/destination", "sink/endpoint", "recorder",
	"config/edit", "config/revision", "lab/runs", "broker", "broker/account", "broker/command",
	"meter/bill", "meter/system",
}

// makers are the functions that make a reason of a text, beside errors.New, fmt.Errorf and fmt.Sprintf.
var makers = strings.Fields(`wrong problem fail failed refuse refused tooMany report reportIn reportPoint add NotHere Absent named r Note`)

// tellers are the functions that return texts for people.
var tellers = strings.Fields(`titleOf`)

// reasonsOf returns the clauses of the reasons of all packages. A reason is several of them with semicolons between.
func reasonsOf(t *testing.T) (found []string) {
	for _, place := range reasoned {
		files, err := filepath.Glob(filepath.Join("..", place, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files: %v", place, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				for _, e := range reasonsIn(n) {
					found = append(found, clauses(e)...)
				}
				return true
			})
		}
	}
	return found
}

// reasonsIn returns the expressions of a node of a source that are texts for people.
func reasonsIn(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.CallExpr:
		if from, name := called(n); from+"."+name == "errors.New" || from+"."+name == "fmt.Errorf" || from+"."+name == "fmt.Sprintf" {
			return []ast.Expr{n}
		} else if slices.Contains(makers, name) {
			return n.Args
		}
	case *ast.FuncDecl:
		var found []ast.Expr
		if slices.Contains(tellers, n.Name.Name) {
			ast.Inspect(n.Body, func(n ast.Node) bool {
				if r, is := n.(*ast.ReturnStmt); is {
					found = append(found, r.Results...)
				}
				return true
			})
		}
		return found
	}
	return nil
}

// called returns the package or value and the name of a called function.
func called(c *ast.CallExpr) (from, name string) {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return "", f.Name
	case *ast.SelectorExpr:
		if x, is := f.X.(*ast.Ident); is {
			from = x.Name
		}
		return from, f.Sel.Name
	}
	return "", ""
}

var (
	inBraces = regexp.MustCompile(`\x01[^\x01\x02]*\x02`)
	amount   = regexp.MustCompile(`(^|[ (\[])-?\d(?:[\d,.]*\d)?(ms|s|m|h|d|kB|KiB|MiB|GiB)?([ ,:)\]]|$)`)
	digits   = regexp.MustCompile(`-?\d(?:[\d,.]*\d)?(ms|s|m|h|d|kB|KiB|MiB|GiB)?`)
	example  = regexp.MustCompile(`(such as )\S+$`)
	anyHole  = regexp.MustCompile(`\{\d+([#?][^}]*)?\}`)
	code     = regexp.MustCompile(`PRAGMA|SELECT|ORDER BY|\n|[\x01\x02<>]|^[a-z.]+$`)
	letters  = regexp.MustCompile(`\p{L}`)
	formed   = regexp.MustCompile(`"?%[-+#0-9.]*(\[\d\])?[a-zA-Z]"?`)
)

// technical are texts that no reader of the page sees: steps inside the program, defects, and names.
var technical = regexp.MustCompile(`^(is not a \{0\}$|\w+: |node "|mqtt \{|tiles\.|x \{|outstation \{|unit \{|quality\(|patterns? |points? [{"]|configuration (is a )?\{|Catalog Error|` +
	`Parser Error|SHOW |EXPLAIN |read (the|process) |(end|wait for|bound the|start a) process|open the history|store \{|status 0x|line \{0\},|bytes \{0\} to|block(s of)? |samples? \{|` +
	`reading \{|record what|LeaveEvents|encode what|needs a handler|relinquish priority|device \{0\} at|row \{0\} of|indications|back to version|write (a line|the audit log|` +
	`the grants|the keys|the query|the mark|how the nodes|what (changed|was lost))|bring the catalogue|change the catalogue|wait for (the first request|line)|class \{|set up serial|` +
	`started: |such as |it answers \{|run: mv|the (value|broker|argument) \{0\}|window \{0\}$|version \{|with \{0\} copies|` +
	`driver \{0\} (cannot|dialled|opened|returned)|text \{0\}|type \{|byte order|times, retries|answers with (a |no )?(stream|\{)|a record of|records of|min is above|allow\[|hold\[|` +
	`expression, character|an answer of|date "|an assoc|a poll needs|configurations? \{|DELETE|nothing for \{|there are \{0\} (over|win|dev))`)

// clauses returns the parts of a reason, in which examples and amounts are placeholders, too.
func clauses(e ast.Expr) (found []string) {
	var s sentence
	if !s.read(e) {
		return nil
	}
	whole := inBraces.ReplaceAllString(s.text, "{0}")
	whole = formed.ReplaceAllStringFunc(whole, func(verb string) string {
		if strings.HasSuffix(verb, "q") {
			return `"{0}"`
		}
		return "{0}"
	})
	for text := range strings.SplitSeq(strings.ReplaceAll(whole, "%%", "%"), "; ") {
		for last := ""; last != text; {
			last = text
			text = amount.ReplaceAllStringFunc(text, func(a string) string { return digits.ReplaceAllString(a, "{0}") })
		}
		text = strings.TrimSpace(example.ReplaceAllString(text, "${1}{0}"))
		for strings.HasPrefix(text, "{0}: ") || len(anyHole.FindString(text)) > 0 && strings.HasPrefix(text, anyHole.FindString(text)+": ") {
			text = text[strings.Index(text, ": ")+2:]
		}
		for colon := strings.LastIndex(text, ": "); colon >= 0 && anyHole.FindString(text[colon+2:]) == text[colon+2:]; colon = strings.LastIndex(text, ": ") {
			text = text[:colon]
		}
		bare := anyHole.ReplaceAllString(text, "_")
		least := 5
		if strings.HasPrefix(text, "{") {
			least = 10
		}
		if words.MatchString(bare) && len(letters.FindAllString(bare, -1)) >= least && !code.MatchString(text) && !technical.MatchString(text) {
			found = append(found, numbered(text))
		}
	}
	return found
}

// numbered counts the placeholders of a text anew.
func numbered(text string) string {
	n := -1
	return holes.ReplaceAllStringFunc(text, func(string) string {
		n++
		return "{" + strconv.Itoa(n)
	})
}
