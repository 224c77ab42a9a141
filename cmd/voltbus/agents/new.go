package agents

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/fault"
)

//go:embed all:template/agent
var agentTemplates embed.FS

var moduleForm = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

func newAgentNew() *cobra.Command {
	template := "watch"
	cmd := &cobra.Command{
		Use: "new <folder>", Short: "Create an agent project with a test that passes", Args: cobra.ExactArgs(1),
		Long: `Create an agent project in Python with a test that passes, ready for "voltbus agent install". The
folder's name becomes the name of the agent. The template minimal does nothing yet; watch listens to
points and raises an alert.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if template != "watch" && template != "minimal" {
				return shell.Usage(fmt.Errorf("--template %q is not known; write watch or minimal", template))
			}
			if err := scaffold(args[0], template); err != nil {
				return err
			}
			cmd.Printf("wrote %s\nnext:\n  voltbus agent install %s --start\n", args[0], args[0])
			return nil
		},
	}
	cmd.Flags().StringVar(&template, "template", template, "watch or minimal")
	return cmd
}

// scaffold writes a project. It does not overwrite anything.
func scaffold(dir, template string) error {
	name := filepath.Base(filepath.Clean(dir))
	module := strings.ReplaceAll(strings.ToLower(name), "-", "_")
	if !moduleForm.MatchString(module) {
		return shell.Usage(fmt.Errorf("%q cannot be the name of a Python package; write letters, digits, - and _, beginning with a letter", name))
	}
	if _, err := os.Stat(dir); err == nil {
		return fault.E("voltbus", fault.Conflict, dir, errors.New("exists already; name another folder"))
	}
	var class strings.Builder
	for part := range strings.SplitSeq(module, "_") {
		if part != "" {
			class.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	fill := strings.NewReplacer("NAME", strings.ReplaceAll(module, "_", "-"), "MODULE", module, "CLASS", class.String())
	root := "template/agent/" + template
	return fs.WalkDir(agentTemplates, root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := agentTemplates.ReadFile(path)
		if err != nil {
			return err
		}
		file := filepath.Join(dir, fill.Replace(strings.TrimSuffix(strings.TrimPrefix(path, root), ".tmpl")))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return fmt.Errorf("write the project: %w", err)
		}
		if err := os.WriteFile(file, []byte(fill.Replace(string(text))), 0o644); err != nil {
			return fmt.Errorf("write the project: %w", err)
		}
		return nil
	})
}
