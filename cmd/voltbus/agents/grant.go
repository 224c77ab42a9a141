package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"voltbus/api/client"
	"voltbus/cmd/voltbus/shell"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/internal/strictyaml"
	"voltbus/operation"
	"voltbus/operation/agents"
	"voltbus/point"
)

// CapabilityHelp explains the syntax of capabilities.
const CapabilityHelp = `A capability is a word and what it is for:

    publish PATTERN      send live scans, samples and messages
    record PATTERN       record samples durably
    subscribe PATTERN    receive live scans, samples and messages
    read PATTERN         read history, newest values and the list of points
    command PATTERN@N    command points with level N (1, the most urgent, to 16) or less urgently
    call AGENT[:METHOD]  call methods of an agent
    hold NAME            hold a capability that methods of agents demand
    administer           everything

A pattern without * is the path and all below it; quote patterns, so that the shell leaves them.`

// newAgentIdentity returns the commands about the identity and rights of an agent.
func newAgentIdentity(f *shell.Flags) []*cobra.Command {
	return []*cobra.Command{
		newAgentRegister(f), newAgentGrants(f), newAgentGrant(f), newAgentUngrant(f), newAgentRevoke(f),
	}
}

func newAgentRegister(f *shell.Flags) *cobra.Command {
	var key, grants string
	cmd := &cobra.Command{
		Use: "register <name> [public key]", Short: "Register an agent that runs elsewhere, with its key", Args: cobra.RangeArgs(1, 2),
		Long: `Register an agent that runs elsewhere, with its public key. With --key the key is in a file here, and is created if the
file does not exist; copy it to the machine of the program. "voltbus agent remove" frees the name;
"voltbus agent revoke" revokes the key and keeps the name.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 2) == (key != "") {
				return shell.Usage(errors.New("give either a public key or --key with a file"))
			}
			public := ""
			if key == "" {
				public = args[1]
			} else {
				k, err := identity.OpenKey(key)
				if err != nil {
					return err
				}
				public = k.Public()
			}
			g, err := readGrants(grants)
			if err != nil {
				return err
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				a, err := client.Do(ctx, s.Client, agents.Add, agents.New{Name: args[0], Public: public, Grants: g})
				if err == nil {
					cmd.Printf("%s is known by %s\n", a.Name, a.Public)
				}
				return err
			})
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "file with the agent's key; it is made if it does not exist")
	cmd.Flags().StringVar(&grants, "grants", "", "file of YAML or JSON with what it may do, such as voltbus agent grants --json shows")
	return cmd
}

// readGrants reads grants from a file; "" for none.
func readGrants(file string) (identity.Grants, error) {
	var g identity.Grants
	if file == "" {
		return g, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return g, shell.Usage(fmt.Errorf("read the grants: %w", err))
	}
	if err := parseGrants(file, text, &g); err != nil {
		return g, fault.E("voltbus", fault.Invalid, file, fmt.Errorf("does not hold grants: %w", err))
	}
	return g, identity.CheckGrants(&g)
}

// parseGrants parses YAML, which includes JSON, with the keys of JSON.
func parseGrants(file string, text []byte, into *identity.Grants) error {
	node, problem := strictyaml.Parse(file, text)
	if problem != nil {
		return errors.New(problem.String())
	}
	var tree map[string]any
	if err := node.Decode(&tree); err != nil {
		return err
	}
	asJSON, err := json.Marshal(tree)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(asJSON))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

func newAgentGrants(f *shell.Flags) *cobra.Command {
	var asJSON bool
	var file string
	cmd := &cobra.Command{
		Use: "grants <name>", Short: "Show the grants of an agent, or replace them", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				if file != "" {
					g, err := readGrants(file)
					if err != nil {
						return err
					}
					return ShowGrants(cmd, asJSON)(client.Do(ctx, s.Client, agents.SetGrants, agents.Grants{Agent: agents.Agent{Name: args[0]}, Grants: g}))
				}
				a, err := client.Do(ctx, s.Client, agents.Get, agents.Agent{Name: args[0]})
				return ShowGrants(cmd, asJSON)(a.Grants, err)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "show JSON, as --file takes it")
	cmd.Flags().StringVar(&file, "file", "", "file of YAML or JSON to replace all grants with")
	return cmd
}

// ShowGrants prints grants, one per line, or passes the error on.
func ShowGrants(cmd *cobra.Command, asJSON bool) func(identity.Grants, error) error {
	return func(g identity.Grants, err error) error {
		if err != nil {
			return err
		}
		if asJSON {
			b, err := json.MarshalIndent(g, "", "  ")
			if err != nil {
				return fmt.Errorf("write the grants: %w", err)
			}
			cmd.Println(string(b))
			return nil
		}
		for _, c := range g.Capabilities() {
			cmd.Println(c)
		}
		return nil
	}
}

// limits restrict a granted capability.
type limits struct {
	where    []string
	min, max string
}

func newAgentGrant(f *shell.Flags) *cobra.Command {
	var l limits
	cmd := &cobra.Command{
		Use: "grant <name> <capability> [<for what> ...]", Short: "Grant an agent another capability, at once", Args: cobra.MinimumNArgs(2),
		Long: "Grant an agent another capability, at once, also on its open connection.\n\n" + CapabilityHelp,
		Example: `  voltbus agent grant boiler publish 'analysis/**'
  voltbus agent grant boiler command campus/b1/ahu1@8 --min 10 --max 30
  voltbus agent grant tuner call boiler:set_limit --where 'device=campus/b1/**' --where limit=10..20`,
		RunE: func(cmd *cobra.Command, args []string) error {
			g, err := Capabilities(args[1], args[2:])
			if err == nil {
				err = l.apply(&g)
			}
			if err != nil {
				return err
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				return ShowGrants(cmd, false)(client.Do(ctx, s.Client, agents.ChangeGrants, agents.Change{Agent: agents.Agent{Name: args[0]}, Regranting: operation.Regranting{Grant: g, Withdraw: identity.Grants{}}}))
			})
		},
	}
	cmd.Flags().StringArrayVar(&l.where, "where", nil, "of call and hold: what an argument must be, as name=pattern, name=10..20 or name=a,b")
	cmd.Flags().StringVar(&l.min, "min", "", "of command: the least value")
	cmd.Flags().StringVar(&l.max, "max", "", "of command: the greatest value")
	return cmd
}

func newAgentUngrant(f *shell.Flags) *cobra.Command {
	return &cobra.Command{
		Use: "ungrant <name> <capability> [<for what> ...]", Short: "Withdraw a capability from an agent, at once", Args: cobra.MinimumNArgs(2),
		Long: "Withdraw a capability from an agent, at once: what it subscribed to and may no longer hear ends.\n\n" + CapabilityHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			g, err := Capabilities(args[1], args[2:])
			if err != nil {
				return err
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				return ShowGrants(cmd, false)(client.Do(ctx, s.Client, agents.ChangeGrants, agents.Change{Agent: agents.Agent{Name: args[0]}, Regranting: operation.Regranting{Grant: identity.Grants{}, Withdraw: g}}))
			})
		},
	}
}

func newAgentRevoke(f *shell.Flags) *cobra.Command {
	return &cobra.Command{
		Use: "revoke <name>", Short: "Revoke an agent, at once and permanently", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				_, err := client.Do(ctx, s.Client, agents.Revoke, agents.Agent{Name: args[0]})
				return err
			})
		},
	}
}

// Capabilities parses a verb and its objects.
func Capabilities(verb string, objects []string) (identity.Grants, error) {
	if len(objects) == 0 {
		objects = []string{""}
	}
	var g identity.Grants
	for _, o := range objects {
		one, err := identity.ParseCapability(verb, o)
		if err != nil {
			return g, err
		}
		g = g.With(one)
	}
	return g, nil
}

// apply adds the restrictions to all grants.
func (l *limits) apply(g *identity.Grants) error {
	where, err := parseWhere(l.where)
	if err != nil {
		return err
	}
	low, err := bound("--min", l.min)
	if err != nil {
		return err
	}
	high, err := bound("--max", l.max)
	if err != nil {
		return err
	}
	switch {
	case where != nil && len(g.Call)+len(g.Hold) == 0:
		return shell.Usage(errors.New("--where restricts call and hold only"))
	case (low != nil || high != nil) && len(g.Command) == 0:
		return shell.Usage(errors.New("--min and --max restrict command only"))
	}
	for i := range g.Command {
		g.Command[i].Min, g.Command[i].Max = low, high
	}
	for i := range g.Call {
		g.Call[i].Where = where
	}
	for i := range g.Hold {
		g.Hold[i].Where = where
	}
	return nil
}

func bound(flag, text string) (*float64, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no bound
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, shell.Usage(fmt.Errorf("%s %q must be a number", flag, text))
	}
	return &v, nil
}

// parseWhere parses conditions such as device=campus/**, limit=10..20 and mode=auto,off.
func parseWhere(list []string) (identity.Constraints, error) {
	var where identity.Constraints
	for _, text := range list {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" || value == "" {
			return nil, shell.Usage(fmt.Errorf("--where %q must be name=pattern, name=10..20 or name=a,b", text))
		}
		if where == nil {
			where = identity.Constraints{}
		}
		c, err := condition(value)
		if err != nil {
			return nil, err
		}
		where[name] = c
	}
	return where, nil
}

func condition(value string) (identity.Condition, error) {
	if from, to, ok := strings.Cut(value, ".."); ok {
		low, err := bound("--where", from)
		if err != nil {
			return identity.Condition{}, err
		}
		high, err := bound("--where", to)
		return identity.Condition{Min: low, Max: high}, err
	}
	if !strings.Contains(value, ",") {
		return identity.Condition{Pattern: point.Pattern(value)}, nil
	}
	var c identity.Condition
	for v := range strings.SplitSeq(strings.TrimSuffix(value, ","), ",") {
		c.Values = append(c.Values, scalarOf(v))
	}
	return c, nil
}

// scalarOf parses a value like JSON: numbers and booleans, and everything else as a string.
func scalarOf(text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		switch v.(type) {
		case float64, bool, string:
			return v
		}
	}
	return text
}
