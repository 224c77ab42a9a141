package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/agent/description"
	"voltbus/agent/workshop"
	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/cmd/voltbus/shell"
	"voltbus/operation/agents"
	"voltbus/operation/processes"
	"voltbus/python"
)

func newAgentMethods(f *shell.Flags) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "methods <name>", Short: "Show the methods of an agent", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				list, err := client.Do(ctx, s.Client, agents.Methods, agents.Agent{Name: args[0]})
				if err != nil {
					return err
				}
				if asJSON {
					return json.NewEncoder(s.OutOrStdout()).Encode(list.Methods)
				}
				printMethods(s.Command, list.Methods)
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// printMethods prints the signatures of methods, each with the first line of its documentation.
func printMethods(cmd *cobra.Command, list []answer.Method) {
	for _, m := range list {
		params := make([]string, len(m.Params))
		for i, p := range m.Params {
			params[i] = p.Name
			if p.Type != "" {
				params[i] += ": " + p.Type
			}
			if len(p.Default) > 0 {
				params[i] += " = " + string(p.Default)
			}
		}
		line := fmt.Sprintf("%s(%s)", m.Name, strings.Join(params, ", "))
		if m.Result != "" {
			line += " -> " + m.Result
		}
		cmd.Println(shell.Plain(line))
		if doc, _, _ := strings.Cut(m.Doc, "\n"); doc != "" {
			cmd.Println("    " + shell.Plain(doc))
		}
		if len(m.Needs) > 0 {
			cmd.Println("    other agents must hold " + shell.Plain(strings.Join(m.Needs, ", ")))
		}
	}
}

func newAgentDescribe(f *shell.Flags) *cobra.Command {
	p, entry := workshop.Project{SDK: python.Wheel, Log: func(text string) { fmt.Fprintln(os.Stderr, text) }}, ""
	cmd := &cobra.Command{
		Use: "describe <folder or name>", Short: "Describe an agent, its requested capabilities and methods, as JSON", Args: cobra.ExactArgs(1),
		Long: `Describe an agent as JSON: version, requested capabilities, methods and the JSON Schema of its configuration. The
agent is a project's folder, or an installed one. It is not started.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if info, err := os.Stat(args[0]); err == nil && info.IsDir() {
				p.Dir = args[0]
				d, err := describeProject(cmd.Context(), &p, entry)
				if err != nil {
					return err
				}
				return shell.PrintJSON(cmd, d)
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				is, err := client.Do(ctx, s.Client, processes.Show, processes.Agent{Name: args[0]})
				if err != nil {
					return err
				}
				return shell.PrintJSON(cmd, description.Description{
					Name: is.Name, Doc: is.Title, Version: is.Release, Wants: is.Wants, Schema: is.Schema, Methods: is.Methods,
				})
			})
		},
	}
	cmd.Flags().StringVar(&entry, "entry", "", "of a folder: which agent of the package, if it has several")
	cmd.Flags().StringVar(&p.Python, "python", "", "of a folder: interpreter to use as it is")
	return cmd
}

func describeProject(ctx context.Context, p *workshop.Project, entry string) (d description.Description, err error) {
	interpreter, err := p.Prepare(ctx)
	if err != nil {
		return d, err
	}
	e, err := description.Find(ctx, p.Run, interpreter, entry)
	if err != nil {
		return d, err
	}
	return description.Read(ctx, p.Run, interpreter, e.Entry)
}

func newAgentCall(f *shell.Flags) *cobra.Command {
	text, node := "", ""
	wait := 30 * time.Second
	cmd := &cobra.Command{
		Use: "call <name> <method> [<argument> ...]", Short: "Call a method of an agent, and show what it returns", Args: cobra.MinimumNArgs(2),
		Long: `Call a method of an agent in the name of the node, and show what it returns as JSON. An argument is a
number, true, false, null, a text, or other JSON; name=value gives one by its name. The audit log records the
caller and the arguments.

With --node the agent is one of another node of the tree; the agent "node" is that node
itself. The nodes on the path must allow it: see "voltbus children grant", and uplink.allow in the
configuration of the child node.`,
		Example: `  voltbus agent call boiler-watch limit 80.5
  voltbus agent call boiler-watch tune device=campus/b1/boiler limit=15
  voltbus agent call boiler-watch limit 80.5 --node plant-1
  voltbus agent call boiler-watch tune --json '{"device": "campus/b1/boiler", "limit": 15}'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("json") && len(args) > 2 {
				return shell.Usage(errors.New("give arguments either one by one or with --json"))
			}
			call, err := callOf(args[2:], text)
			if err != nil {
				return err
			}
			call.Method, call.Timeout = args[1], wait
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				ask := s.CallAgent
				if node != "" {
					ask = func(ctx context.Context, agent string, c client.Call) (json.RawMessage, error) {
						return s.CallNode(ctx, node, agent, c)
					}
				}
				result, err := ask(ctx, args[0], call)
				if err != nil {
					return err
				}
				return shell.PrintJSON(cmd, result)
			})
		},
	}
	cmd.Flags().StringVar(&text, "json", "", "the arguments as JSON: a list by place, or an object by name")
	cmd.Flags().DurationVar(&wait, "timeout", wait, "longest that the method may take, at most 5m")
	shell.NodeFlag(cmd, &node)
	return cmd
}

var namedForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// callOf parses the arguments of a call, individual ones or JSON.
func callOf(args []string, text string) (client.Call, error) {
	call := client.Call{Kwargs: map[string]json.RawMessage{}}
	if text != "" {
		if json.Unmarshal([]byte(text), &call.Args) != nil && json.Unmarshal([]byte(text), &call.Kwargs) != nil {
			return call, shell.Usage(fmt.Errorf("--json %q must be a list such as [1, \"a\"], or an object such as {\"limit\": 1}", text))
		}
		return call, nil
	}
	for _, a := range args {
		name := namedForm.FindString(a)
		if name == "" {
			call.Args = append(call.Args, jsonOf(a))
			continue
		}
		call.Kwargs[strings.TrimSuffix(name, "=")] = jsonOf(a[len(name):])
	}
	return call, nil
}

// jsonOf returns an argument as JSON: itself if it is JSON, otherwise a string.
func jsonOf(a string) json.RawMessage {
	if json.Valid([]byte(a)) {
		return json.RawMessage(a)
	}
	b, _ := json.Marshal(a) // strings cannot fail
	return b
}
