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
// destination or a neighbour does not do what it should.
var reasoned = []string{
	"agent", "agent/description", "agent/guard", "agent/installed", "agent/launch", "agent/place", "agent/upload", "agent/workshop", "alarm",
	"alarm/escalation", "alarm/expression", "alarm/monitor", "alarm/storage", "analysis", "api", "api/bound", "api/exchange", "api/login", "api/stream",
	"api/upload", "audit", "audit/report", "broker", "broker/account", "broker/application", "broker/command", "broker/setting", "broker/template", "catalog",
	"config", "config/edit", "config/reference", "config/revision", "control", "control/access", "control/dispatch", "control/interlock", "control/model",
	"control/reservation", "control/term", "dashboard", "dashboard/template", "device", "device/acquisition", "device/alarm", "device/line", "device/recovery",
	"device/trouble", "document", "drawing", "driver", "driver/all", "driver/bacnet", "driver/bacnet/alarm", "driver/bacnet/network", "driver/bacnet/pointlist",
	"driver/bacnet/survey", "driver/bacnet/trend", "driver/dnp3", "driver/dnp3/pointlist", "driver/dnp3/survey", "driver/modbus", "driver/modbus/layout",
	"driver/modbus/sunspecmap", "driver/mqtt", "driver/opcua", "driver/opcua/pointlist", "driver/registry", "driver/sim", "gateway/bacnet", "gateway/dnp3",
	"identity", "identity/pki", "identity/registry", "ingest/admission", "ingest/jsontext", "ingest/scalar", "internal/strictyaml", "judge", "judge/function",
	"judge/setting", "lab/runs", "mail", "meter/bill", "meter/cluster", "meter/member", "meter/membership", "meter/ruleset", "meter/setting", "meter/system",
	"node", "operation", "operation/agents", "operation/alarms", "operation/alerts", "operation/analysis", "operation/auditlog", "operation/children",
	"operation/cluster", "operation/configuration", "operation/configuration/report", "operation/control", "operation/dashboards", "operation/declared",
	"operation/devices", "operation/documents", "operation/forward", "operation/history", "operation/judge", "operation/lab", "operation/ledger",
	"operation/metering", "operation/metering/account", "operation/mqtt", "operation/nodelog", "operation/nodes", "operation/parent", "operation/people",
	"operation/points", "operation/processes", "operation/schedules", "operation/sinks", "operation/sources", "operation/timeline", "operation/tokens",
	"operation/transport", "point", "protocol/bacnet/client", "protocol/bacnet/transaction", "protocol/dnp3/master", "protocol/opcua/client", "query",
	"recorder", "replication", "replication/setting", "report", "report/mailing", "schedule", "schedule/keeper", "service", "sink", "sink/all", "sink/amqp1",
	"sink/clickhouse", "sink/destination", "sink/elasticsearch", "sink/endpoint", "sink/influxdb", "sink/kafka", "sink/mongodb", "sink/mqtt",
	"sink/opentelemetry", "sink/prometheus", "sink/rabbitmq", "sink/s3", "sink/setting", "sink/table", "source", "source/all", "source/amqp1", "source/kafka",
	"source/rabbitmq", "source/setting", "store/duckdb/statement", "store/postgres/setting", "uplink/children", "uplink/enrol", "uplink/federation",
	"uplink/judged", "uplink/neighbour", "uplink/parent", "uplink/receiver", "uplink/remote", "uplink/replica", "uplink/sender", "uplink/tree", "webpush",
}

// makers are the functions that make a reason of a text, beside errors.New, fmt.Errorf and fmt.Sprintf.
var makers = strings.Fields(`wrong problem fail failed refuse refused tooMany report reportIn reportPoint add NotHere Absent named r Note`)

// foreign are reasons of Go and of operating systems, as they stand in those of drivers.
var foreign = []string{
	"address already in use", "broken pipe", "certificate has expired or is not yet valid", "certificate signed by unknown authority",
	"connection refused", "connection reset by peer", "connection timed out", "context canceled", "context deadline exceeded",
	"device or resource busy", "dial tcp {0}: connect: {1}", "dial tcp {0}: {1}", "dial tcp: lookup {0}: {1}", "host is down", "i/o timeout",
	"could not find expected ':'", "did not find expected '-' indicator", "did not find expected key", "did not find expected node content",
	"found character that cannot start any token", "found unexpected end of stream", "mapping values are not allowed in this context",
	"input/output error", "lookup {0}: no such host", "network is unreachable", "no route to host", "no space left on device", "no such file or directory",
	"no such host", "open {0}: {1}", "operation timed out", "permission denied", "read tcp {0}: read: {1}", "read tcp {0}: {1}", "read-only file system",
	"tls: failed to verify certificate: {0}", "too many open files", "unexpected EOF", "use of closed network connection", "write tcp {0}: write: {1}",
}

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
				for _, e := range reasonsIn(n, !strings.HasPrefix(place, "operation") && !strings.HasPrefix(place, "api")) {
					found = append(found, clauses(e)...)
				}
				return true
			})
		}
	}
	return append(found, foreign...)
}

// reasonsIn returns the expressions of a node of a source that are texts for people.
func reasonsIn(n ast.Node, plain bool) []ast.Expr {
	switch n := n.(type) {
	case *ast.CallExpr:
		if from, name := called(n); from+"."+name == "errors.New" || from+"."+name == "fmt.Errorf" || from+"."+name == "fmt.Sprintf" {
			return []ast.Expr{n}
		} else if slices.Contains(makers, name) {
			return n.Args
		}
	case *ast.ReturnStmt:
		return texts(plain, n.Results)
	case *ast.AssignStmt:
		return texts(plain, n.Rhs)
	case *ast.KeyValueExpr:
		return texts(plain, []ast.Expr{n.Value})
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

// texts returns those of some expressions that are literals, or sums of them with others.
func texts(wanted bool, list []ast.Expr) (found []ast.Expr) {
	if !wanted {
		return nil
	}
	for _, e := range list {
		switch e := e.(type) {
		case *ast.BasicLit:
			found = append(found, e)
		case *ast.BinaryExpr:
			if e.Op == token.ADD && holdsText(e) {
				found = append(found, e)
			}
		}
	}
	return found
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
	code     = regexp.MustCompile(`PRAGMA|SELECT|ORDER BY|\n|[\x01\x02]|<[^a-z]|^[a-z.]+$`)
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
	`endorse a|sign a|make a serial|prepare the (certificate|server)|read back a|use the certificate|Ask a query|List the (names|rules|series|values)|Tell (the version|what the)|Write a query|` +
	`Page \{|Node \{0\}, made|boxes stand|Median|vapid|queue \{|record \{|segment \{|entry \{|template "|address "|trend log of|\{0\}, partition|\{0\} samples, complete|the number of persons|find the interpreter|` +
	`expression, character|an answer of|date "|an assoc|a poll needs|configurations? \{|DELETE|nothing for \{|there are \{0\} (over|win|dev))`)

// coded are texts of statements, of protocols and of headings of tables.
var coded = regexp.MustCompile(`CREATE |INSERT |ON (CONFLICT|DUPLICATE)|VARCHAR|WHERE |NOT NULL|owner = |PRIVATE KEY|^, |^name(,| and) |^Voltbus |^(cold|warm) restart|` +
	`client: |^Modbus TCP|^DNP3 |^(direct|select before) operate|^A simulated|^(read|write) (file|and|or|directory|one \{)|^(address|command|device|holding|member|schedule|status|value|judge|keys with) \{0\}([@ ]\{1\})?$`)

// unsaid are names of things and parts of sentences.
var unsaid = []string{
	"All points", "Dampers and valves", "Energy as the pulse output counts it", "Rooms that it counts", "Supply and return",
	"The level of the command that {0} follows, {1} to {2}", "The report of the week from {0} is attached. The node {1} made it.",
	"Topics of an MQTT broker.", "What {0} is commanded", "a leader", "activate configuration", "class poll", "connect twice", "connect with a replaced key",
	"connect with an expired bundle", "cut off", "devices behind routers and BBMDs.", "elec energy", "elec power", "fill gaps from the log of the device",
	"free cooling", "integrity poll", "is not {0}", "its number", "its program", "kept aside", "live messages", "no security (none)", "of a row",
	"of any size", "or of one that is not known here", "random value between {0} and {1}", "the audit log", "the catalogue", "the device at {0}",
	"the file of the alarms", "the last end", "the line", "time synchronization", "true, false", "{0} does not {1} yet",
}

// short are texts of few letters with values, which are names of things.
var short = regexp.MustCompile(`still here$|to store at|^\{0\} (\(|alarms? at|answers|channel|is within|to \{1\}, times|version|with mode)|^\{0\}(, week|network)`)

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
			least = 7
		}
		if words.MatchString(bare) && len(letters.FindAllString(bare, -1)) >= least && !code.MatchString(text) && !technical.MatchString(text) {
			if text = numbered(text); !coded.MatchString(text) && !short.MatchString(text) && !slices.Contains(unsaid, text) {
				found = append(found, text)
			}
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
