package web

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// generated is the list of the sentences that a node makes for people, with placeholders, by which the page
// translates them.
const generated = "src/generated/sentences.json"

// generatedReasons is the list of what refuses and of why something is not as it should be, which the page loads later.
const generatedReasons = "src/generated/reasons.json"

// TestTheSentencesOfTheNodeAreListed keeps the list true: UPDATE_DOCS=1 writes it anew.
func TestTheSentencesOfTheNodeAreListed(t *testing.T) {
	var list []string
	for _, pattern := range []string{"../verdict/*.go", "../timeline/sentence.go", "../health/facts.go", "../alarm/rule.go", "../alarm/unjudged.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files: %v", pattern, err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				list = append(list, sentencesOf(t, file)...)
			}
		}
	}
	list = append(slices.DeleteFunc(list, vague.MatchString), composed...)
	slices.Sort(list)
	list = slices.Compact(list)
	isListed(t, generated, list)
	reasons := append(reasonsOf(t), experimentsOf(t)...)
	slices.Sort(reasons)
	isListed(t, generatedReasons, slices.DeleteFunc(slices.Compact(reasons), func(text string) bool {
		_, found := slices.BinarySearch(list, text)
		return found || strings.Contains(text, "{") && vague.MatchString(text)
	}))
}

// isListed compares a list with the file that is kept of it, or writes the file anew.
func isListed(t *testing.T, name string, list []string) {
	t.Helper()
	if os.Getenv("UPDATE_DOCS") != "" {
		text, err := json.MarshalIndent(list, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	var kept []string
	if text, err := os.ReadFile(name); err != nil || json.Unmarshal(text, &kept) != nil || !reflect.DeepEqual(kept, list) {
		t.Errorf("%s is not what the sources say: run UPDATE_DOCS=1 go test ./web -run Sentences, then npm --prefix web run words", name)
	}
}

// vague are texts that would be taken for parts of any sentence, and those that no reader of the page sees.
var vague = regexp.MustCompile(`^(The |the |is \{0\}|2006-.*|missing; .*|(The node )?\{0\}( by| at| of)?( \{1\})?(: \{2\}| the agent \{2\})?|The node \{0\} \{1\}|The connection to \{0\} \{1\}|` +
	`\{0\}(none lost|the figures .*|\{1\? sample.*)|\{0\} of \{1#device\} \{2\} \(.*|` +
	`(is|are|do|does|gives?|answers?|has|have|waits?|were|cannot) [a-z ]+|alarm rule)$`)

// composed are sentences that are put together from parts, in verdict/conclude.go and alarm/rule.go.
var composed = []string{
	"{0#command} failed", "{0#command} {1?is|are} not confirmed", "{0#command} {1?waits|wait} for approval",
	"{0#node} {1?waits|wait} for approval", "{0#agent} {1?does|do} not work", "{0#other concern}",
	"{0#alarm rule} cannot be judged",
	"{0#point} {1?has another value than it was|have other values than they were} set to",
	"{0#destination} {1?is behind or refuses|are behind or refuse} readings",
	"{0} of {1#device} {2?does|do} not answer ({3})", "{0} of {1#device} {2?gives|give} no point ({3})",
	"{0} of {1#device} {2?answers|answer} only in part ({3})",
	"{0#sample} recorded, none lost", "{0#sample} recorded, {1} lost", "{0#sample} recorded, {1} refused",
	"{0#sample} recorded, the figures of {1} do not add up",
	"{0} critical", "{0} high", "{0} medium", "{0} low", "has no new value",
	"The agent {0}", "The schedule {0}", "The application {0}", "{0} {1?is|are} refused", "{0} {1?is|are} behind", "{0} {1?is|are} not well", "{0} and {1}",
}

// sentencesOf returns the sentences of a file: formats, sums of texts, and verbs between who and what.
func sentencesOf(t *testing.T, file string) []string {
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, d := range tree.Decls {
		f, is := d.(*ast.FuncDecl)
		if !is || f.Body == nil {
			continue
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if of, is := n.(*ast.CompositeLit); is {
				if made := verbs(f.Name.Name, of); len(made) > 0 {
					found = append(found, made...)
					return false
				}
			}
			e, is := n.(ast.Expr)
			if !is {
				return true
			}
			var s sentence
			if !s.read(e) {
				return true
			}
			if s.isSentence() {
				found = append(found, s.whole())
			}
			return false
		})
	}
	return found
}

// verbs makes sentences of who did what from a table of actions.
func verbs(function string, table *ast.CompositeLit) []string {
	shape := map[string]string{
		"tellAgent": "{0} % the agent {1}", "change": "{0} % {1}", "alarmAct": "{0} % {1}", "tellAccess": "{0} % {1}", "tellJoin": "The node {0} %",
	}[function]
	var found []string
	for _, e := range table.Elts {
		pair, is := e.(*ast.KeyValueExpr)
		if !is || shape == "" {
			continue
		}
		var action, verb sentence
		if !action.read(pair.Key) || !verb.read(pair.Value) {
			continue
		}
		text := strings.Replace(shape, "%", verb.text, 1)
		if strings.HasPrefix(action.text, "config.") {
			text = "{0} " + verb.text
		}
		found = append(found, text)
	}
	return found
}

// sentence is a text with placeholders.
type sentence struct {
	text  string
	holes int
}

func (s *sentence) hole(form string) {
	s.text += "{" + strconv.Itoa(s.holes) + form + "}"
	s.holes++
}

var (
	verb  = regexp.MustCompile(`%[-+#0-9.]*[a-zA-Z]`)
	words = regexp.MustCompile(`\p{L}{2,} |[ ]\p{L}{2,}`)
	holes = regexp.MustCompile(`\{(\d+)`)
)

// read adds a text that an expression makes; false if it makes none that begins with a literal.
func (s *sentence) read(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		if e.Kind != token.STRING || err != nil {
			return false
		}
		s.text += strings.NewReplacer("{", "\x01", "}", "\x02").Replace(text)
		return true
	case *ast.BinaryExpr:
		if e.Op != token.ADD || !holdsText(e) {
			return false
		}
		s.part(e.X)
		s.part(e.Y)
		return true
	case *ast.CallExpr:
		return s.call(e)
	}
	return false
}

func (s *sentence) part(e ast.Expr) {
	if !s.read(e) {
		s.hole("")
	}
}

// call reads fmt.Sprintf, plural.Of and plural.Word.
func (s *sentence) call(e *ast.CallExpr) bool {
	fun, is := e.Fun.(*ast.SelectorExpr)
	if !is {
		return false
	}
	from, is := fun.X.(*ast.Ident)
	if !is {
		return false
	}
	switch from.Name + "." + fun.Sel.Name {
	case "errors.New":
		return s.read(e.Args[0])
	case "fmt.Sprintf", "fmt.Errorf":
		var format sentence
		if !format.read(e.Args[0]) {
			return false
		}
		at := 0
		for i, place := range verb.FindAllStringIndex(format.text, -1) {
			s.text += format.text[at:place[0]]
			if at = place[1]; i+1 < len(e.Args) {
				s.argument(format.text[at-1], e.Args[i+1])
			}
		}
		s.text += format.text[at:]
		return true
	case "plural.Of":
		var noun sentence
		if noun.read(e.Args[1]) {
			s.hole("#" + noun.text)
			return true
		}
	case "plural.Word":
		var one, other sentence
		if one.read(e.Args[1]) && other.read(e.Args[2]) {
			s.hole("?" + one.text + "|" + other.text)
			return true
		}
	}
	return false
}

// argument reads what stands for a verb of a format: forms of a number, a text in quotes, or any value.
func (s *sentence) argument(verb byte, e ast.Expr) {
	if verb == 'q' {
		s.text += `"`
		defer func() { s.text += `"` }()
	}
	call, is := e.(*ast.CallExpr)
	if !is || !s.call(call) {
		s.hole("")
	}
}

// holdsText reports whether a sum has a literal.
func holdsText(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if l, is := n.(*ast.BasicLit); is && l.Kind == token.STRING {
			found = true
		}
		return !found
	})
	return found
}

func (s *sentence) isSentence() bool {
	bare := regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(s.text, "_")
	return words.MatchString(bare) && !strings.Contains(s.text, "://") && !strings.Contains(s.text, "%")
}

// whole is the sentence, with what it is added to before it if it begins in the middle.
func (s *sentence) whole() string {
	if !strings.ContainsAny(s.text[:1], ",;: ") {
		return s.text
	}
	return "{0}" + holes.ReplaceAllStringFunc(s.text, func(hole string) string {
		n, _ := strconv.Atoi(hole[1:])
		return "{" + strconv.Itoa(n+1)
	})
}
