package docs

import (
	"bytes"
	"fmt"
	"go/format"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// word is an expression that gives way to a term of the field.
type word struct {
	find  string // regular expression, whole words, any case; a space stands for any white space
	write string
	allow string // regular expression for what is ordinary English or a quotation, and may stay
	own   string // folder where the standards that it implements use the expression themselves
}

// The words that readers who know the field, and not this project, have to decode. Names in code and text in
// backquotes are not searched in Markdown: a wire name is quoted as it is.
var words = []word{
	{find: `desks?`, write: "dispatcher", allow: `help ?desk`},
	{find: `scribes?`, write: "recorder"},
	{find: `senses`, write: "last-value cache", allow: `senses? of|(makes|common|no|both|two|other) senses?`},
	{find: `guests`, write: "connections"},
	{find: `passages?`, write: "connection event", allow: `passages? of (time|text)`},
	{find: `errands?`, write: "remote request"},
	{find: `visitors?`, write: "remote caller"},
	{find: `(far|distant) (caller|person|people|request|question|call|side|end|node|name|who|command)s?`, write: "remote …", allow: `far end of`},
	{find: `deeds?`, write: "audit entry"},
	{find: `lexicons?`, write: "string interner"},
	{find: `octets?`, write: "bytes", own: "protocol/", allow: `octet[- ]strings?|(control|status|header) octets?|json:"octets|ten-octet|user octets|octets of DNP3`}, // IEC 62056, IEEE 1815 and ASHRAE 135 say octet
	{find: `(house|room)s? (of|in) (the )?(architecture|code|program|packages?|stack)|in rooms, one`, write: "package, component"},
	{find: `in this house|of the house|the house's|house's own|house rules?`, write: "of the project"},
	{find: `(nodes?|those|all|each|one|parent|child|children) (above|below) (it|this|the|a|another|ours?) ?(node|one)?`, write: "child, parent, descendant", allow: `(line|list|page|table|level|value)s? (above|below)|listed below one`},
	{find: `nodes? (below|above|beneath)`, write: "child node, parent node"},
	{find: `wait(s|ing)? to go up|goes up to the parent|waits? for going up`, write: "backlog"},
	{find: `is there as`, write: "connected as"},
	{find: `says? how (it|they) (does|do|is|are)\b`, write: "status"},
	{find: `(wait(s|ed|ing)? for|needs?|by|of) a second person`, write: "needs approval", allow: `approval (by|of) a second person`},
	{find: `not as wished|as (was )?wished|is wished|was wished|wishes|the wish|a wish`, write: "commanded value", allow: `(who(ever)?|he|she|you|one|somebody) wishes`},
	{find: `(held|holds) (against|and differs)|what is held|is held at`, write: "commanded value; confirmed or mismatch"},
	{find: `lookers?`, write: "read-only session"},
}

// searched says how the text for readers is taken out of a file.
func searched(name string, text []byte) []byte {
	switch filepath.Ext(name) {
	case ".md":
		return proseOf(text)
	case ".go":
		return spokenGo(text)
	case ".ts", ".tsx":
		return property.ReplaceAllFunc(text, blank)
	case ".yaml":
		return yamlName.ReplaceAllFunc(text, blank)
	}
	return text
}

var (
	fencedBlock = regexp.MustCompile("(?ms)^[ \t]*```.*?^[ \t]*```")
	inlineCode  = regexp.MustCompile("`[^`\n]+`")
	linkTarget  = regexp.MustCompile(`\]\([^)\s]+\)`)
	property    = regexp.MustCompile(`\w\.\w+`)                                                           // a name of the wire, such as r.octets
	yamlName    = regexp.MustCompile(`(?m)^[ \t]*[\w-]+:( \[[^\]]*\])?|\b(required|enum): \[[^\]]*\]`)    // names of the wire
	statement   = regexp.MustCompile(`\b(SELECT|INSERT INTO|UPDATE|CREATE TABLE|FROM STDIN)\b|^"s\.time`) // SQL, with names of columns
)

// proseOf blanks what a page quotes.
func proseOf(text []byte) []byte {
	for _, quoted := range []*regexp.Regexp{fencedBlock, inlineCode, linkTarget} {
		text = quoted.ReplaceAllFunc(text, blank)
	}
	return text
}

// spokenGo blanks all but the comments and texts of a Go file.
func spokenGo(text []byte) []byte {
	if generatedFile.Match(text) {
		return nil
	}
	out := blank(text)
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, scanner.ScanComments)
	for {
		at, kind, literal := s.Scan()
		switch {
		case kind == token.EOF:
			return out
		case kind == token.COMMENT:
			copy(out[file.Offset(at):], strings.Replace(literal, "//", "  ", 1))
		case kind == token.STRING && strings.Contains(literal, " ") && !statement.MatchString(literal): // a single word is a name
			copy(out[file.Offset(at):], literal)
		}
	}
}

var generatedFile = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// blank replaces all but line ends by spaces, so that places stay where they are.
func blank(text []byte) []byte {
	out := slices.Clone(text)
	for i, c := range out {
		if c != '\n' {
			out[i] = ' '
		}
	}
	return out
}

// readable lists the files with text for readers.
func readable(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root(), func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, root()+"/")
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains(foreign, d.Name()) || d.Name() == "testdata" || d.Name() == "generated" || strings.HasPrefix(d.Name(), ".")) && path != root():
			return fs.SkipDir
		case d.IsDir() || !d.Type().IsRegular() || strings.Contains(d.Name(), ".test.") || strings.HasSuffix(d.Name(), "_test.go"):
			return nil
		}
		switch ext := filepath.Ext(name); {
		case ext == ".md", ext == ".go",
			strings.HasPrefix(name, "web/src/") && (ext == ".ts" || ext == ".tsx"),
			ext == ".py" && (strings.HasPrefix(name, "python/src/") || strings.HasPrefix(name, "agents/")),
			ext == ".yaml" && (strings.HasPrefix(name, "docs/formats/") || strings.HasPrefix(name, "api/")):
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// compiled is a word made ready to search.
type compiled struct {
	word
	find, allow *regexp.Regexp
}

func compile(list []word) []compiled {
	whole := func(s string) *regexp.Regexp {
		if s == "" {
			return nil
		}
		return regexp.MustCompile(`(?i)\b(?:` + strings.ReplaceAll(s, " ", `\s+`) + `)\b`)
	}
	out := make([]compiled, 0, len(list))
	for _, w := range list {
		out = append(out, compiled{word: w, find: whole(w.find), allow: whole(w.allow)})
	}
	return out
}

// violations lists where a text uses words of the list, as "file:line: …".
func violations(name string, text []byte, list []compiled) (out []string) {
	text = searched(name, text)
	for _, w := range list {
		if w.own != "" && strings.HasPrefix(name, w.own) {
			continue
		}
		looked := text
		if w.allow != nil {
			looked = w.allow.ReplaceAllFunc(text, blank)
		}
		for _, at := range w.find.FindAllIndex(looked, -1) {
			line := 1 + bytes.Count(looked[:at[0]], []byte("\n"))
			out = append(out, fmt.Sprintf("%s:%d: %q: write %s", name, line, strings.Join(strings.Fields(string(looked[at[0]:at[1]])), " "), w.write))
		}
	}
	return out
}

// TestTheWordsOfTheFieldAreUsed searches text for readers (pages, comments, messages, screens) for expressions that the list replaces.
// Folders that still have some are in a table whose numbers only fall; UPDATE_DOCS=1 writes it anew.
func TestTheWordsOfTheFieldAreUsed(t *testing.T) {
	list, found := compile(words), map[string][]string{}
	for _, file := range readable(t) {
		text, err := os.ReadFile(file) //nolint:gosec // of the repository
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(file, root()+"/")
		if some := violations(name, text, list); len(some) > 0 {
			found[partOf(name)] = append(found[partOf(name)], some...)
		}
	}
	if os.Getenv("UPDATE_DOCS") != "" {
		writeWordTable(t, found)
		return
	}
	if all, allowed := countAll(found), countOld(); all <= allowed { // what moves from one part to another is nothing new
		t.Logf("%d of %d: UPDATE_DOCS=1 go test ./testing/docs -run TestTheWords lowers the table", all, allowed)
		return
	}
	for _, part := range slices.Sorted(maps.Keys(found)) {
		if some, allowed := found[part], oldWords[part]; len(some) > allowed {
			t.Errorf("%s has %d expressions that give way to terms of the field, and may have %d:\n%s", part, len(some), allowed, strings.Join(some, "\n"))
		}
	}
}

func countAll(found map[string][]string) (n int) {
	for _, some := range found {
		n += len(some)
	}
	return n
}

func countOld() (n int) {
	for _, some := range oldWords {
		n += some
	}
	return n
}

// partOf names the entry of the table that a file counts for: its first folder, and the second within docs.
func partOf(name string) string {
	parts := strings.Split(name, "/")
	switch {
	case len(parts) == 1:
		return name
	case parts[0] == "docs" && len(parts) > 2:
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

func writeWordTable(t *testing.T, found map[string][]string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("package docs\n\n// oldWords counts the expressions that parts of the repository still have. Numbers here only fall.\nvar oldWords = map[string]int{\n")
	for _, part := range slices.Sorted(maps.Keys(found)) {
		fmt.Fprintf(&b, "\t%q: %d,\n", part, len(found[part]))
	}
	b.WriteString("}\n")
	text, err := format.Source([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("wordtable_test.go", text, 0o644); err != nil { //nolint:gosec // a source file
		t.Fatal(err)
	}
}

func TestAWordIsFoundInTextAndNotInNames(t *testing.T) {
	list := compile(words)
	for name, c := range map[string]struct {
		file, text string
		want       int
	}{
		"in a paragraph":                    {"a.md", "The desk decides.", 1},
		"over two lines":                    {"a.md", "all nodes\nbelow it", 1},
		"in any case":                       {"a.md", "Octets of a frame", 1},
		"not in code of a page":             {"a.md", "`control/desk` and\n```\ndesk\n```\n", 0},
		"not in the target of a link":       {"a.md", "[it](control/desk.md)", 0},
		"in a comment":                      {"a.go", "package a\n\n// Two octets\n// of nodes\n// below.\nvar desk int\n", 2},
		"in a message":                      {"a.go", "package a\n\nvar e = \"ask the desk\"\n", 1},
		"not in a name of Go":               {"a.go", "package a\n\nimport \"voltbus/control/desk\"\n\nvar desk = \"desk\"\n", 0},
		"not in what is generated":          {"a.go", "// Code generated by b. DO NOT EDIT.\n\npackage a\n\n// A desk.\n", 0},
		"in a label of the page":            {"a.tsx", "<p>Wait for a second person</p>", 1},
		"not in ordinary English":           {"a.md", "Values below it are far more than what somebody was told; it makes sense to all senses of the word.", 0},
		"not where a standard says it":      {"protocol/p/p.go", "package p\n\n// Two octets.\n", 0},
		"not in a name of the wire":         {"api/a.yaml", "required: [octets]\noctets: {type: integer}\n", 0},
		"in a description":                  {"api/a.yaml", "disk: {description: Octets}\n", 1},
		"not in a property":                 {"a.tsx", "<td>{r.octets}</td>", 0},
		"not as part of another word":       {"a.md", "desktop", 0},
		"a table above the text is no node": {"a.md", "The lines above this one", 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := violations(c.file, []byte(c.text), list); len(got) != c.want {
				t.Errorf("found %q, want %d", got, c.want)
			}
		})
	}
}
