package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
)

// The lines of the document between which the generated part stands.
const (
	begin = "  # What follows is written by \"go generate ./operation/openapi\" from the declarations of operations.\n"
	end   = "  # What is written by \"go generate ./operation/openapi\" ends here.\n"
)

var errByHand = errors.New("a path is written by hand; all are written from declarations: remove it")

var errMarks = errors.New("two lines between which generated parts stand are missing")

// replace returns a document with the paths of the operations, replacing the earlier ones.
func replace(document string, list []operation.Declared) (string, error) {
	before, rest, found := strings.Cut(document, begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return "", fault.E("openapi.replace", fault.Corrupt, "", errMarks)
	}
	if strings.Contains(before, "\n  /") || strings.Contains(after, "\n  /") {
		return "", fault.E("openapi.replace", fault.Corrupt, "", errByHand)
	}
	var paths strings.Builder
	for _, path := range pathsOf(list) {
		paths.WriteString("  " + path + ":\n" + operationsAt(list, path))
	}
	return withSchemas(before+begin+paths.String()+end+after, list)
}

// The lines of the document between which the schemas generated from types stand.
const (
	beginSchemas = "    # The schemas that follow are written by \"go generate ./operation/openapi\" from the types of answers.\n"
	endSchemas   = "    # The schemas that are written end here.\n"
)

// withSchemas returns a document with the schemas of results, replacing the earlier ones.
func withSchemas(document string, list []operation.Declared) (string, error) {
	before, rest, found := strings.Cut(document, beginSchemas)
	_, after, ended := strings.Cut(rest, endSchemas)
	if !found || !ended {
		return "", fault.E("openapi.withSchemas", fault.Corrupt, "", errMarks)
	}
	all := newSchemas(func(name string) bool { return blockOf(before, name) != "" })
	all.results(list)
	return before + beginSchemas + all.text() + endSchemas + after, all.clash
}

// pathsOf lists the paths of operations, in their order.
func pathsOf(list []operation.Declared) (paths []string) {
	for i := range list {
		if _, path := list[i].Path(); path != "" && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// operationsAt returns the operations of a path.
func operationsAt(list []operation.Declared, path string) string {
	var b strings.Builder
	for i := range list {
		if method, other := list[i].Path(); other == path {
			write(&b, &list[i], strings.ToLower(method))
		}
	}
	return b.String()
}

func write(b *strings.Builder, d *operation.Declared, method string) {
	line := func(depth int, format string, args ...any) {
		fmt.Fprintf(b, strings.Repeat("  ", depth)+format+"\n", args...)
	}
	line(2, "%s:", method)
	summary := d.Summary
	if d.Role > identity.Viewer {
		summary += fmt.Sprintf("; needs the role %v", d.Role)
	}
	line(3, "summary: %s", quoted(summary))
	if d.Doc != "" {
		line(3, "description: %s", quoted(d.Doc))
	}
	line(3, "operationId: %s", cmp.Or(d.ID, id(d.Name)))
	switch {
	case d.Greets:
		line(3, "security: [{}, { token: [] }, { session: [] }]")
	case d.Role == identity.Nobody && !d.Record:
		line(3, "security: []")
	}
	writeParameters(d, line)
	writeBody(d, line)
	writeAnswers(d, line)
}

// writeAnswers writes the responses.
func writeAnswers(d *operation.Declared, line func(int, string, ...any)) {
	line(3, "responses:")
	switch schema := schemaOf(d); {
	case d.Stream != "":
		writeStream(d, line)
	case schema == "":
		line(4, `"204": { description: %s }`, quoted(cmp.Or(d.Result, "Done")))
	default:
		usual := cmp.Or(d.Media, jsonMedia) + ": { schema: " + schema + " }"
		line(4, `"200": { description: %s, content: { %s } }`, quoted(d.Result), strings.Join(append([]string{usual}, bodies(d, http.StatusOK)...), ", "))
	}
	done := map[int]bool{http.StatusOK: true}
	for i := range d.Answers {
		if c := &d.Answers[i]; !done[c.Status] {
			done[c.Status] = true
			line(4, `"%d": { description: %s, content: { %s } }`, c.Status, quoted(c.Doc), strings.Join(bodies(d, c.Status), ", "))
		}
	}
	line(4, `default: { $ref: "#/components/responses/%s" }`, cmp.Or(d.Problem, "Problem"))
}

const jsonMedia = "application/json"

// bodies writes the response bodies of a status.
func bodies(d *operation.Declared, status int) (list []string) {
	for i := range d.Answers {
		if d.Answers[i].Status == status {
			list = append(list, content(&d.Answers[i]))
		}
	}
	return list
}

// content writes a body with its media type.
func content(c *operation.Content) string {
	media := cmp.Or(c.Media, jsonMedia)
	words := []string{"type: string"}
	switch {
	case c.Schema != "":
		words = []string{reference(c.Schema)}
	case !strings.HasPrefix(media, "text/") && !strings.HasSuffix(media, "xml"):
		words = nil
	}
	if c.Doc != "" && c.Status == 0 {
		words = append(words, "description: "+quoted(c.Doc))
	}
	return media + ": { schema: " + flow(words) + " }"
}

func writeParameters(d *operation.Declared, line func(int, string, ...any)) {
	var list []string
	if d.Remote {
		name := "elsewhere"
		if d.Granted {
			name = "node"
		}
		list = append(list, `$ref: "#/components/parameters/`+name+`"`)
	}
	if d.Keyed {
		list = append(list, "{ name: Idempotency-Key, in: header, schema: { type: string, minLength: 1, maxLength: 255 } }")
	}
	for i := range d.Fields {
		f := &d.Fields[i]
		if !f.Query {
			continue
		}
		in, required := "query", f.Required || f.Person
		if strings.Contains(d.HTTP, "{"+f.Name+"}") {
			in, required = "path", true
		}
		words := []string{"name: " + quoted(f.Address()), "in: " + in}
		if required {
			words = append(words, "required: true")
		}
		if f.Doc != "" {
			words = append(words, "description: "+quoted(f.Doc))
		}
		list = append(list, "{ "+strings.Join(append(words, "schema: "+fieldSchema(f, "")), ", ")+" }")
	}
	if len(list) == 0 {
		return
	}
	line(3, "parameters:")
	for _, p := range list {
		line(4, "- %s", p)
	}
}

func writeBody(d *operation.Declared, line func(int, string, ...any)) {
	if method, _ := d.Path(); d.Body == 0 || method == http.MethodGet {
		return
	}
	if len(d.Reads) > 0 {
		line(3, "requestBody:")
		line(4, "required: %v", d.Problem == "") // other APIs check themselves what is missing
		line(4, "content:")
		for i := range d.Reads {
			line(5, "%s", content(&d.Reads[i]))
		}
		return
	}
	if d.Takes != "" {
		line(3, "requestBody:")
		line(4, "required: true")
		line(4, `content: { application/json: { schema: { $ref: "#/components/schemas/%s" } } }`, d.Takes)
		return
	}
	var required []string
	for i := range d.Fields {
		if f := &d.Fields[i]; f.Required && !f.Query {
			required = append(required, f.Name)
		}
	}
	for i, text := range []string{"requestBody:", "required: true", "content:", "application/json:", "schema:", "type: object"} {
		line([]int{3, 4, 4, 5, 6, 7}[i], "%s", text)
	}
	if len(required) > 0 {
		line(7, "required: [%s]", strings.Join(required, ", "))
	}
	line(7, "additionalProperties: false")
	line(7, "properties:")
	for i := range d.Fields {
		if f := &d.Fields[i]; !f.Query {
			line(8, "%s: %s", f.Name, fieldSchema(f, f.Doc))
		}
	}
}

// fieldSchema returns the schema of an argument.
func fieldSchema(f *operation.Field, doc string) string {
	var words []string
	add := func(name string, value int64) { words = append(words, name+": "+strconv.FormatInt(value, 10)) }
	kind := f.Type.Kind()
	if f.Schema != "" {
		words, kind = append(words, `$ref: "#/components/schemas/`+f.Schema+`"`), reflect.Invalid
	}
	switch kind { //nolint:exhaustive // the rest is anything
	case reflect.Slice, reflect.Map:
		words = append(words, listSchema(f)...)
	case reflect.String:
		words = append(words, "type: string")
		if n := cmp.Or(f.Min, least(f)); n > 0 {
			add("minLength", n)
		}
		if f.Max > 0 {
			add("maxLength", f.Max)
		}
		if len(f.OneOf) > 0 {
			words = append(words, "enum: ["+strings.Join(f.OneOf, ", ")+"]")
		}
	case reflect.Int:
		words = append(words, "type: integer")
		add("minimum", f.Min)
		add("maximum", cmp.Or(f.Max, 1<<31-1))
	case reflect.Float64:
		words = append(words, "type: number")
		if r := f.Range; r != nil {
			least, most := r.Texts()
			words = append(words, "minimum: "+least, "maximum: "+most)
		}
	case reflect.Bool:
		words = append(words, "type: boolean")
	}
	if f.Object {
		words = append(words, "type: object")
	}
	if f.Default != "" {
		words = append(words, "default: "+quoted(f.Default))
	}
	if doc != "" {
		words = append(words, "description: "+quoted(doc))
	}
	return "{ " + strings.Join(words, ", ") + " }"
}

// listSchema returns the schema of a list of strings in a URL; that of anything else is left open.
func listSchema(f *operation.Field) []string {
	switch {
	case !f.IsList() || (!f.Query && f.Type.Kind() == reflect.Map):
		return nil
	case f.Commas:
		return []string{"type: string"}
	case f.Max > 0:
		return []string{"type: array", fmt.Sprintf("maxItems: %d", f.Max), "items: { type: string }"}
	}
	return []string{"type: array", "items: { type: string }"}
}

// least is the minimum length of a required string in a URL.
func least(f *operation.Field) int64 {
	if (f.Required || f.Person) && f.Query {
		return 1
	}
	return 0
}

// writeStream writes the response of a stream.
func writeStream(d *operation.Declared, line func(int, string, ...any)) {
	line(4, `"200":`)
	line(5, "description: %s", quoted(d.Result))
	if name, schema, is := strings.Cut(d.Header, ": "); is {
		line(5, "headers:")
		line(6, `%s: { description: Absent if there are none, content: { application/json: { schema: { $ref: "#/components/schemas/%s" } } } }`, name, schema)
	}
	line(5, "content:")
	for _, media := range d.Formats {
		schema := "{}"
		if strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "json") {
			schema = "{ schema: { type: string } }"
		}
		line(6, "%s: %s", media, schema)
	}
}

// schemaOf refers to the schema of a result, which has the name of its type; "" for no result.
func schemaOf(d *operation.Declared) string {
	t := d.Out
	switch {
	case d.Schema != "":
		return `{ $ref: "#/components/schemas/` + d.Schema + `" }`
	case t == reflect.TypeFor[operation.None]():
		return ""
	case t == reflect.TypeFor[json.RawMessage]():
		return "{}"
	case t.Kind() == reflect.String:
		return "{ type: string }"
	case t.Kind() == reflect.Pointer:
		return flow(nullable([]string{reference(nameOf(t.Elem()))}))
	}
	return "{ " + reference(nameOf(t)) + " }"
}

// id returns an identifier for programs: setDocument for document.set.
func id(name string) string {
	noun, verb, _ := strings.Cut(name, ".")
	first, rest, _ := strings.Cut(verb, "-")
	return first + title(noun) + title(rest)
}

func title(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// quoted returns a string as a YAML value.
func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil || !strings.ContainsAny(s, `:#,{}[]&*!|>'"%@<`+"`") {
		return s
	}
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(text))
}
