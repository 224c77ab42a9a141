// Package call is the command "call": any operation, by its declaration.
package call

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/declared"
)

// Program is what the command shares with the program's other commands.
type Program struct {
	// With calls do with a client of the command's node.
	With func(cmd *cobra.Command, do func(ctx context.Context, c *client.Client) error) error
	// Show prints lines that may contain text from devices.
	Show func(cmd *cobra.Command, text string)
}

// New returns the command.
func New(p *Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "call [<operation> [<name>=<value> ...]]", Short: "Call any operation of a node, and show the answer as JSON",
		Long: `Call any operation of a node, and show the answer as JSON. Without an operation all are listed; with
one and --help its arguments are.

A value is a text, a number, true or false as the argument requires, and JSON for everything else. Write a list
as <name>=<value> several times, or as one JSON list. <name>=@<file> reads the value from a file. docs/reference/api.md
describes the answers.

With --node the request goes to another node of the tree, which must allow it.`,
		Example: `  voltbus call
  voltbus call document.set --help
  voltbus call document.set owner=shared name=limits type=yaml text=@limits.yaml
  voltbus call history.latest points=plant/boiler/temp points=plant/boiler/flow
  voltbus call agent.restart name=boiler-watch --node plant-1`,
		RunE: func(cmd *cobra.Command, args []string) error {
			all := declared.All()
			if len(args) == 0 {
				return list(cmd.OutOrStdout(), all)
			}
			d, err := operationOf(all, args[0])
			if err != nil {
				return err
			}
			given, err := argumentsOf(d, args[1:])
			if err != nil {
				return err
			}
			return p.With(cmd, func(ctx context.Context, c *client.Client) error {
				resp, err := client.Request(ctx, c, d, given)
				if err != nil {
					return err
				}
				return errors.Join(p.answer(cmd, d, resp), resp.Body.Close())
			})
		},
		ValidArgsFunction: complete,
	}
	usual := cmd.HelpFunc()
	cmd.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		for _, name := range args {
			if d, err := operationOf(declared.All(), name); err == nil {
				describe(cmd.OutOrStdout(), d)
				return
			}
		}
		usual(cmd, args)
	})
	return cmd
}

// wrong marks an error as a usage error.
func wrong(err error) error { return fault.E("voltbus", fault.Invalid, "", err) }

// operationOf returns the operation of a name.
func operationOf(list []operation.Declared, name string) (*operation.Declared, error) {
	i := slices.IndexFunc(list, func(d operation.Declared) bool { return d.Name == name })
	switch {
	case i < 0:
		return nil, wrong(fmt.Errorf("there is no operation %q; see voltbus call", name))
	case list[i].Carried != "":
		return nil, wrong(fmt.Errorf("%s is asked over HTTP as %s: %s", name, list[i].HTTP, list[i].Carried))
	}
	return &list[i], nil
}

func list(to io.Writer, all []operation.Declared) error {
	slices.SortFunc(all, func(a, b operation.Declared) int { return strings.Compare(a.Name, b.Name) })
	for i := range all {
		if all[i].HTTP == "" || all[i].Carried != "" {
			continue
		}
		if _, err := fmt.Fprintf(to, "%-24s %s\n", all[i].Name, all[i].Summary); err != nil {
			return err
		}
	}
	return nil
}

// describe prints the documentation and arguments of an operation, as declared.
func describe(to io.Writer, d *operation.Declared) {
	fmt.Fprintf(to, "%s.\n", d.Summary)
	if d.Doc != "" {
		fmt.Fprintln(to, "\n"+d.Doc)
	}
	fmt.Fprintf(to, "\nUsage:\n  voltbus call %s", d.Name)
	for i := range d.Fields {
		if f := &d.Fields[i]; f.Required || f.Person {
			fmt.Fprintf(to, " %s=<value>", f.Name)
		}
	}
	if len(d.Fields) > 0 {
		fmt.Fprint(to, "\n\nArguments:\n")
	} else {
		fmt.Fprintln(to)
	}
	for i := range d.Fields {
		f := &d.Fields[i]
		fmt.Fprintf(to, "  %-14s %s\n", f.Name, strings.Join(wordsOf(f), "; "))
	}
	result := d.Result
	if d.Out == reflect.TypeFor[operation.None]() && d.Stream == "" {
		result = "nothing"
	}
	fmt.Fprintf(to, "\nAnswers: %s\n", result)
	if d.Role > identity.Nobody {
		fmt.Fprintf(to, "Needs the role %v.", d.Role)
	} else {
		fmt.Fprint(to, "Everybody may ask.")
	}
	if d.Remote {
		fmt.Fprint(to, " Another node may be asked, with --node.")
	}
	fmt.Fprintln(to)
}

// wordsOf describes an argument.
func wordsOf(f *operation.Field) (words []string) {
	switch {
	case f.Required, f.Person:
		words = append(words, "needed")
	case f.Default != "":
		words = append(words, "default "+f.Default)
	}
	if len(f.OneOf) > 0 {
		words = append(words, strings.Join(f.OneOf, ", "))
	} else {
		words = append(words, f.Words())
	}
	if f.Doc != "" {
		words = append(words, f.Doc)
	}
	return words
}

// argumentsOf parses arguments such as name=value.
func argumentsOf(d *operation.Declared, texts []string) (operation.Arguments, error) {
	values, args := map[string][]string{}, operation.Arguments{}
	for _, text := range texts {
		name, value, is := strings.Cut(text, "=")
		if !is {
			return nil, wrong(fmt.Errorf("%q must be <name>=<value>", text))
		}
		if file, from := strings.CutPrefix(value, "@"); from {
			content, err := os.ReadFile(file)
			if err != nil {
				return nil, wrong(fmt.Errorf("read the value of %s: %w", name, err))
			}
			value = string(content)
		}
		values[name] = append(values[name], value)
	}
	for name, list := range values {
		i := slices.IndexFunc(d.Fields, func(f operation.Field) bool { return f.Name == name })
		if i < 0 {
			return nil, wrong(fmt.Errorf("%s has no argument %q; see voltbus call %[1]s --help", d.Name, name))
		}
		value, err := valueOf(&d.Fields[i], list)
		if err != nil {
			return nil, wrong(fmt.Errorf("%s: %w", name, err))
		}
		args[name] = value
	}
	return args, nil
}

var (
	errNotJSON   = errors.New(`must be JSON, such as 21.5, "auto" or ["a", "b"]`)
	errNotNumber = errors.New("must be a number, such as 2.5")
)

// valueOf returns an argument as JSON; it is given on the command line once or, for a list, several times.
func valueOf(f *operation.Field, texts []string) (json.RawMessage, error) {
	kind := f.Type.Kind()
	simple := kind == reflect.String || kind == reflect.Int || kind == reflect.Bool || f.IsList()
	if whole := texts[0]; len(texts) == 1 && json.Valid([]byte(whole)) && (!simple || (f.IsList() && strings.ContainsAny(whole[:1], "[{"))) {
		return json.RawMessage(whole), nil
	}
	switch {
	case kind == reflect.Float64:
		return nil, errNotNumber
	case !simple:
		return nil, errNotJSON
	}
	value, given, err := f.FromTexts(texts)
	if !given && err == nil {
		value = json.RawMessage(`""`)
	}
	return value, err
}

// answer prints the result of an operation.
func (p *Program) answer(cmd *cobra.Command, d *operation.Declared, resp *http.Response) error {
	if d.Stream != "" || d.Media != "" {
		_, err := io.Copy(cmd.OutOrStdout(), resp.Body)
		return err
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode == http.StatusNoContent {
		return err
	}
	var lines bytes.Buffer
	if err := json.Indent(&lines, text, "", "  "); err != nil {
		return fault.E("voltbus", fault.Corrupt, d.Name, fmt.Errorf("the answer cannot be read: %w", err))
	}
	p.Show(cmd, lines.String())
	return nil
}

// complete completes the names of operations and of their arguments.
func complete(_ *cobra.Command, args []string, _ string) (words []string, _ cobra.ShellCompDirective) {
	list := declared.All()
	if len(args) > 0 {
		d, err := operationOf(list, args[0])
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		for i := range d.Fields {
			words = append(words, d.Fields[i].Name+"=")
		}
		return words, cobra.ShellCompDirectiveNoSpace
	}
	for i := range list {
		if list[i].HTTP != "" {
			words = append(words, list[i].Name+"\t"+list[i].Summary)
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
