package docs

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// block is a fenced block of a Markdown file.
type block struct {
	file    string // of the document
	line    int    // of its fence, from 1
	info    string // what stands behind the fence: language, and the name of a file
	comment string // "background", "fails", "not run: …" or ""
	lines   []string
}

func (b *block) String() string { return fmt.Sprintf("%s:%d", b.file, b.line) }

// blocks returns the fenced blocks of a file in order.
func blocks(t *testing.T, file string) []block {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []block
	var open *block
	comment := ""
	for i, line := range strings.Split(string(text), "\n") {
		info, fence := strings.CutPrefix(line, "```")
		remark, isRemark := strings.CutPrefix(line, "<!-- ")
		switch {
		case fence && open == nil:
			open = &block{file: file, line: i + 1, info: info, comment: comment}
			comment = ""
		case fence:
			out = append(out, *open)
			open = nil
		case open != nil:
			open.lines = append(open.lines, line)
		case isRemark:
			comment = strings.TrimSuffix(remark, " -->")
		case line != "":
			comment = ""
		}
	}
	if open != nil {
		t.Fatalf("%v: the block has no end", open)
	}
	return out
}

// command is one command of a console block.
type command struct {
	line  string
	wants []string // lines that it prints
}

// commands splits a console block.
func (b *block) commands(t *testing.T) []command {
	t.Helper()
	var out []command
	for _, line := range b.lines {
		if c, ok := strings.CutPrefix(line, "$ "); ok {
			out = append(out, command{line: c})
			continue
		}
		if len(out) == 0 {
			t.Fatalf("%v: %q stands before the first command; begin commands with \"$ \"", b, line)
		}
		last := &out[len(out)-1]
		if strings.TrimSpace(line) != "" {
			last.wants = append(last.wants, line)
		}
	}
	return out
}

// figure is a number, a time, an address or a word with a digit in it.
var figure = regexp.MustCompile(`[\pL_]*[0-9][0-9\pL_.:+\-]*`)

// mark is what makes the origin of a directory its own.
var mark = regexp.MustCompile(`~[a-z0-9]{6}\b`)

// shape is a line without what differs from run to run: words that begin with a digit, and the
// width of columns.
func shape(line string) string {
	line = mark.ReplaceAllString(line, "~")
	line = figure.ReplaceAllStringFunc(line, func(word string) string {
		if word[0] >= '0' && word[0] <= '9' {
			return "#"
		}
		return word
	})
	return strings.NewReplacer("-#", "#", "+#", "#").Replace(strings.Join(strings.Fields(line), " "))
}

// missing returns the first of the wanted lines that the output does not hold, in order; "" if it
// holds them all.
func missing(wants []string, output string) string {
	lines := strings.Split(output, "\n")
	for _, want := range wants {
		if strings.TrimSpace(want) == "…" {
			continue
		}
		pattern := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(shape(want)), "…", ".*") + "$")
		at := 0
		for at < len(lines) && !pattern.MatchString(shape(lines[at])) {
			at++
		}
		if at == len(lines) {
			return want
		}
		lines = lines[at+1:]
	}
	return ""
}

func TestLinesAreComparedWithoutTheirFigures(t *testing.T) {
	for name, c := range map[string]struct {
		want, got string
		same      bool
	}{
		"equal":                       {"boiler1  online", "boiler1 online", true},
		"another time and value":      {"a  2026-01-02T03:04:05Z  54.7", "a  2026-11-20T17:32:20.021288Z  -3e-05", true},
		"another sign":                {"its clock +0.1 ms", "its clock -1.9 ms", true},
		"another address":             {"at tcp://127.0.0.1:5020", "at tcp://127.0.0.1:41999", true},
		"another point":               {"boiler1  54.7", "boiler2  54.7", false},
		"another mark":                {"demo~r7c2xq  7", "demo~0aaaaa  8", true},
		"another name with a mark":    {"demo~r7c2xq  7", "lab~r7c2xq  7", false},
		"another word":                {"a  good", "a  bad(timeout)", false},
		"what an ellipsis stands for": {"page  http://127.0.0.1:8080/#token=…", "page  http://127.0.0.1:1/#token=ab-1_c", true},
		"a line too few":              {"a  1", "b  1", false},
	} {
		if got := missing([]string{c.want}, "first\n"+c.got+"\nlast") == ""; got != c.same {
			t.Errorf("%s: %q and %q: same is %v", name, c.want, c.got, got)
		}
	}
	if missing([]string{"b", "a"}, "a\nb") == "" {
		t.Error("the order of lines is not looked at")
	}
}
