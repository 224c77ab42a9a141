package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"voltbus/testing/peers"
)

// The documents whose commands are run.
func TestACommandOfTheDocumentationDoesWhatIsPrintedBelowIt(t *testing.T) {
	bin := filepath.Dir(program(t))
	python := filepath.Dir(peers.Python(t))
	for _, file := range []string{
		"README.md",
		"docs/tutorials/first-minutes.md",
		"docs/tutorials/your-first-modbus-device.md",
		"docs/guides/migrate-a-registry-from-volttron.md",
	} {
		t.Run(file, func(t *testing.T) {
			s := newShell(t, bin, python)
			s.copyPrograms(filepath.Join(root(), filepath.Dir(file)))
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
	for _, b := range blocks(s.t, file) {
		language, name, named := strings.Cut(b.info, " ")
		switch {
		case strings.HasPrefix(b.comment, "not run: "):
		case language == "console":
			ran += len(s.console(&b))
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
