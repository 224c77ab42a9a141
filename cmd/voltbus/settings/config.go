package settings

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/cmd/voltbus/shell"
	"voltbus/fault"
	"voltbus/operation/documents"
)

// NewConfig returns the command "config".
func NewConfig(f *shell.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Manage configuration documents of agents and devices",
		Long: `Manage configuration documents: texts with versions that agents read while they run. The owner is
agent/<name>, device/<path>, or shared for documents that all others may refer to with
config://<name>. The configuration of the node itself is in voltbus.yaml; see voltbus check. "voltbus
config show" and "apply" read and change that file of a running node, also of another node.`,
	}
	for _, sub := range []*cobra.Command{
		newConfigStore(f), newConfigGet(f), newConfigList(f), newConfigHistory(f), newConfigDiff(f),
		newConfigRollback(f), newConfigDelete(f), newConfigEdit(f), newConfigShow(f), newConfigApply(f),
	} {
		f.Where.Elsewhere(sub)
		f.Where.Register(sub)
		shell.StrictArgs(sub)
		cmd.AddCommand(sub)
	}
	return cmd
}

// typeOf returns the type that a name ends in.
func typeOf(names ...string) string {
	for _, name := range names {
		switch strings.ToLower(filepath.Ext(name)) {
		case ".yaml", ".yml":
			return "yaml"
		case ".json":
			return "json"
		case ".csv":
			return "csv"
		case ".txt":
			return "text"
		}
	}
	return "yaml"
}

// expected returns the version that --expect names, nil if not given.
func expected(cmd *cobra.Command, version int) *int {
	if !cmd.Flags().Changed("expect") {
		return nil
	}
	return &version
}

func newConfigStore(f *shell.Flags) *cobra.Command {
	var n client.NewDocument
	var expect int
	var dry bool
	cmd := &cobra.Command{
		Use: "store <owner> <name> <file>", Short: "Write a document from a file, - for standard input", Args: cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := readText(cmd, args[2])
			if err != nil {
				return err
			}
			n.Text, n.Expect = text, expected(cmd, expect)
			if n.Type == "" {
				n.Type = typeOf(args[1], args[2])
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				found, err := client.Do(ctx, s.Client, documents.Check, n.Arguments(args[0], args[1]))
				if err != nil {
					return err
				}
				if err := complain(cmd, found.Problems); err != nil || dry {
					return err
				}
				d, err := client.Do(ctx, s.Client, documents.Set, n.Arguments(args[0], args[1]))
				if err == nil {
					cmd.Printf("%s:%s is version %d\n", d.Owner, d.Name, d.Version)
				}
				return err
			})
		},
	}
	cmd.Flags().StringVar(&n.Type, "type", "", "yaml, json, csv or text; default: by the ending of name or file, else yaml")
	cmd.Flags().StringVar(&n.Note, "note", "", "why, for the history")
	cmd.Flags().IntVar(&expect, "expect", 0, "write only if this is the newest version; 0: only if there is no document")
	cmd.Flags().BoolVar(&dry, "check", false, "only say what is wrong")
	return cmd
}

func readText(cmd *cobra.Command, file string) (string, error) {
	var b []byte
	var err error
	if file == "-" {
		b, err = io.ReadAll(cmd.InOrStdin())
	} else {
		b, err = os.ReadFile(file)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fault.E("voltbus", fault.Invalid, file, errors.New("does not exist; name a file, or - for standard input"))
	case err != nil:
		return "", fault.E("voltbus", fault.Invalid, file, fmt.Errorf("cannot be read: %w; name a file, or - for standard input", err))
	}
	return string(b), nil
}

var errDocument = errors.New("the document is wrong; nothing was written")

// complain lists problems on standard error.
func complain(cmd *cobra.Command, list []answer.ConfigProblem) error {
	for _, p := range list {
		where := ""
		if p.Line > 0 {
			where = fmt.Sprintf("line %d: ", p.Line)
		}
		if p.Path != "" {
			where += p.Path + ": "
		}
		fmt.Fprintln(cmd.ErrOrStderr(), shell.Plain(where+p.Detail))
	}
	if len(list) > 0 {
		return shell.Usage(errDocument)
	}
	return nil
}

func newConfigGet(f *shell.Flags) *cobra.Command {
	var version int
	var resolved bool
	cmd := &cobra.Command{
		Use: "get <owner> <name>", Short: "Print a document", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				if resolved {
					content, err := client.Do(ctx, s.Client, documents.Resolved, documents.Key{Owner: args[0], Name: args[1]})
					if err == nil {
						cmd.Println(string(content))
					}
					return err
				}
				d, err := client.Do(ctx, s.Client, documents.Get, documents.Version{Key: documents.Key{Owner: args[0], Name: args[1]}, Version: version})
				if err == nil && d.Text != nil {
					cmd.Print(*d.Text)
				}
				return err
			})
		},
	}
	cmd.Flags().IntVar(&version, "version", 0, "an older version; default: the newest")
	cmd.Flags().BoolVar(&resolved, "resolved", false, "as JSON, with what it refers to in its place")
	return cmd
}

func newConfigList(f *shell.Flags) *cobra.Command {
	var out shell.Format
	cmd := &cobra.Command{
		Use: "list [owner]", Short: "List documents", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				list, err := client.Do(ctx, s.Client, documents.List, documents.Owner{Owner: strings.Join(args, "")})
				if err != nil {
					return err
				}
				return showDocuments(s.OutOrStdout(), &out, list.Documents)
			})
		},
	}
	out.Register(cmd)
	return cmd
}

func newConfigHistory(f *shell.Flags) *cobra.Command {
	var out shell.Format
	cmd := &cobra.Command{
		Use: "history <owner> <name>", Short: "List the versions of a document", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				list, err := client.Do(ctx, s.Client, documents.History, documents.Key{Owner: args[0], Name: args[1]})
				if err != nil {
					return err
				}
				return showDocuments(s.OutOrStdout(), &out, list.Documents)
			})
		},
	}
	out.Register(cmd)
	return cmd
}

func showDocuments(w io.Writer, out *shell.Format, list []answer.Document) error {
	rows, err := out.Open(w, "owner", "name", "type", "version", "at", "by", "deleted", "note")
	if err != nil {
		return err
	}
	for i := range list {
		d := &list[i]
		if err := rows.Row(d.Owner, d.Name, d.Type, d.Version, d.At.Format(time.RFC3339), d.By, d.Deleted, d.Note); err != nil {
			return err
		}
	}
	return rows.End()
}

func newConfigDiff(f *shell.Flags) *cobra.Command {
	var from, to int
	cmd := &cobra.Command{
		Use: "diff <owner> <name>", Short: "Show how two versions differ", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				d, err := client.Do(ctx, s.Client, documents.Diff, documents.Versions{Key: documents.Key{Owner: args[0], Name: args[1]}, From: from, To: to})
				if err == nil {
					cmd.Print(d.Diff)
				}
				return err
			})
		},
	}
	cmd.Flags().IntVar(&from, "from", 0, "the older version; default: the one before")
	cmd.Flags().IntVar(&to, "to", 0, "the newer version; default: the newest")
	return cmd
}

func newConfigRollback(f *shell.Flags) *cobra.Command {
	return &cobra.Command{
		Use: "rollback <owner> <name> <version>", Short: "Write an older version as a new one", Args: cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			version, err := strconv.Atoi(args[2])
			if err != nil {
				return shell.Usage(fmt.Errorf("%q is not a version; see voltbus config history", args[2]))
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				d, err := client.Do(ctx, s.Client, documents.Rollback, documents.Return{Key: documents.Key{Owner: args[0], Name: args[1]}, Version: version})
				if err == nil {
					cmd.Printf("%s:%s is version %d\n", d.Owner, d.Name, d.Version)
				}
				return err
			})
		},
	}
}

func newConfigDelete(f *shell.Flags) *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use: "delete <owner> <name>", Short: "Delete a document; its history stays", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				return client.Tell(ctx, s.Client, documents.Delete, documents.Deletion{Key: documents.Key{Owner: args[0], Name: args[1]}, Note: note})
			})
		},
	}
	cmd.Flags().StringVar(&note, "note", "", "why, for the history")
	return cmd
}

func newConfigEdit(f *shell.Flags) *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use: "edit <owner> <name>", Short: "Edit a document in the editor that EDITOR names", Args: cobra.ExactArgs(2),
		Long: `Edit a document in the editor that VISUAL or EDITOR names. The text is checked before it is stored; if it is
wrong it stays in a file, and the document does not change.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error { return edit(ctx, s, args[0], args[1], note) })
		},
	}
	cmd.Flags().StringVar(&note, "note", "", "why, for the history")
	return cmd
}

// edit lets the user edit a document, and writes it if it is valid and has not been changed meanwhile.
func edit(ctx context.Context, s shell.Session, owner, name, note string) error {
	d, err := client.Do(ctx, s.Client, documents.Get, documents.Version{Key: documents.Key{Owner: owner, Name: name}, Version: 0})
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	if d.Type == "" {
		d.Type, d.Text = typeOf(name), new(string)
	}
	before := []byte(*d.Text)
	file, after, err := letEdit(ctx, s.Command, before, d.Type)
	if err != nil {
		return err
	}
	if bytes.Equal(before, after) {
		s.Println("nothing changed")
		return os.Remove(file)
	}
	n := client.NewDocument{Text: string(after), Type: d.Type, Note: note, Expect: &d.Version}
	found, err := client.Do(ctx, s.Client, documents.Check, n.Arguments(owner, name))
	if err == nil {
		err = complain(s.Command, found.Problems)
	}
	if err == nil {
		d, err = client.Do(ctx, s.Client, documents.Set, n.Arguments(owner, name))
	}
	if err != nil {
		return fmt.Errorf("%w; the text is in %s", err, file)
	}
	s.Printf("%s:%s is version %d\n", d.Owner, d.Name, d.Version)
	return os.Remove(file)
}

var errEditor = errors.New("no editor is known; set EDITOR, or use voltbus config get and store")

// letEdit opens a text in the user's editor, and returns the edited text and the file.
func letEdit(ctx context.Context, cmd *cobra.Command, text []byte, ending string) (file string, after []byte, err error) {
	editor := os.Getenv("VISUAL")
	if editor == "" {
		editor = os.Getenv("EDITOR")
	}
	words := strings.Fields(editor)
	if len(words) == 0 {
		return "", nil, shell.Usage(errEditor)
	}
	f, err := os.CreateTemp("", "voltbus-*."+ending)
	if err != nil {
		return "", nil, err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", nil, err
	}
	run := exec.CommandContext(ctx, words[0], append(words[1:], f.Name())...)
	run.Stdin, run.Stdout, run.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	if err := run.Run(); err != nil {
		return "", nil, fmt.Errorf("run the editor %s: %w", editor, err)
	}
	after, err = os.ReadFile(f.Name())
	return f.Name(), after, err
}
