package docs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"voltbus/testing/peers"
)

// needPast are the documents whose demonstration has run for a month.
var needPast = []string{"docs/guides/notebooks.md", "docs/guides/query-the-history-with-python.md"}

// fewer are what documents have that would take a test too long, and what it has instead.
var fewer = map[string]*strings.Replacer{
	"docs/tutorials/meters-from-concentrators-to-bills.md": strings.NewReplacer("100000", "400", "50000", "200"),
}

// beside start what a document needs beside the program.
var beside = map[string]func(s *shell){
	"docs/guides/sources.md": func(s *shell) {
		server := peers.StartRabbitMQ(s.t, peers.RabbitManagement)
		s.place("127.0.0.1:5672", server.Addr)
		s.place("127.0.0.1:15672", server.Web)
	},
}

// The documents whose commands are run.
func TestACommandOfTheDocumentationDoesWhatIsPrintedBelowIt(t *testing.T) {
	bin := filepath.Dir(program(t))
	python := filepath.Dir(peers.Python(t))
	for _, file := range []string{
		"README.md",
		"docs/tutorials/first-minutes.md",
		"docs/tutorials/your-first-modbus-device.md",
		"docs/guides/control.md",
		"docs/guides/dnp3.md",
		"docs/guides/connect-a-thermostat.md",
		"docs/tutorials/your-first-agent.md",
		"docs/tutorials/join-a-second-node.md",
		"docs/tutorials/an-application-outside.md",
		"docs/tutorials/meters-from-concentrators-to-bills.md",
		"docs/guides/sources.md",
		"docs/guides/migrate-a-registry-from-volttron.md",
		"docs/guides/notebooks.md",
		"docs/guides/query-the-history-with-python.md",
		"docs/guides/virtual-time.md",
	} {
		t.Run(file, func(t *testing.T) {
			s := newShell(t, bin, python)
			s.copyPrograms(filepath.Join(root(), filepath.Dir(file)))
			s.fewer = fewer[file]
			if start := beside[file]; start != nil {
				start(s)
			}
			if slices.Contains(needPast, file) {
				s.remember()
			}
			s.follow(filepath.Join(root(), file))
		})
	}
}

// copyPrograms puts the Python programs that stand beside a document into the shell's directory.
func (s *shell) copyPrograms(folder string) {
	s.t.Helper()
	programs, err := filepath.Glob(filepath.Join(folder, "*.py"))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, name := range programs {
		text, err := os.ReadFile(name)
		if err != nil {
			s.t.Fatal(err)
		}
		s.write(filepath.Base(name), string(text))
	}
}

func (s *shell) write(name, text string) {
	s.t.Helper()
	file := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// follow does what a document says.
func (s *shell) follow(file string) {
	s.t.Helper()
	ran := 0
	list := blocks(s.t, file)
	for i, b := range list {
		language, name, named := strings.Cut(b.info, " ")
		switch {
		case strings.HasPrefix(b.comment, "not run: "):
		case language == "console":
			ran += len(s.console(&b))
		case language == "python" && !named:
			s.python(&b, list[i+1:])
			ran++
		case named:
			s.write(name, s.ports.Replace(strings.Join(b.lines, "\n")+"\n"))
		}
	}
	if ran == 0 {
		s.t.Errorf("%s has no command that can be run", file)
	}
}

func (s *shell) console(b *block) []command {
	s.t.Helper()
	commands := b.commands(s.t)
	for _, c := range commands {
		switch b.comment {
		case "background":
			s.start(b, c)
		case "", "fails":
			s.run(b, c, b.comment == "fails")
		default:
			s.t.Fatalf("%v: the comment %q is not known; write background, fails or not run: why", b, b.comment)
		}
	}
	return commands
}

// python runs a program; what it prints stands in the block of text behind it.
func (s *shell) python(b *block, next []block) {
	s.t.Helper()
	if len(next) == 0 || next[0].info != "text" {
		s.t.Fatalf("%v: write what the program prints in a block \"```text\" below it", b)
	}
	s.write("example.py", s.ports.Replace(strings.Join(b.lines, "\n")+"\n"))
	wants := slices.DeleteFunc(slices.Clone(next[0].lines), func(line string) bool { return strings.TrimSpace(line) == "" })
	s.run(b, command{line: "python example.py", wants: wants}, b.comment == "fails")
}
