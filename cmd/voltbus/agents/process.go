package agents

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"voltbus/agent/jail"
	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/cmd/voltbus/shell"
	"voltbus/config"
	"voltbus/fault"
	"voltbus/internal/plural"
	"voltbus/operation"
	"voltbus/operation/agents"
	"voltbus/operation/processes"
)

// AgentExecCommand is the hidden subcommand that becomes an agent's process.
const AgentExecCommand = "agent-exec"

// NewAgentExec returns the command with which the supervisor starts an agent.
func NewAgentExec() *cobra.Command {
	return &cobra.Command{
		Use: AgentExecCommand + " <spec>", Hidden: true, Args: cobra.ExactArgs(1),
		Short: "Drop privileges and execute an agent's process",
		RunE: func(_ *cobra.Command, args []string) error {
			var spec jail.Spec
			if err := json.Unmarshal([]byte(args[0]), &spec); err != nil {
				return shell.Usage(fmt.Errorf("read what to start: %w", err))
			}
			return spec.Exec(os.Environ())
		},
	}
}

// AgentExec is the command that becomes an agent's process.
func AgentExec() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return []string{self, AgentExecCommand}, nil
}

// newAgentProcess returns the subcommands about installed agents.
func newAgentProcess(f *shell.Flags) []*cobra.Command {
	return []*cobra.Command{
		newAgentNew(), newAgentSDK(), newAgentInstall(f), f.Where.Elsewhere(newAgentList(f)), f.Where.Elsewhere(newAgentStatus(f)), f.Where.Elsewhere(newAgentLogs(f)),
		newAgentOperate(f, "start", "Start an agent, now and after each restart of the node"),
		newAgentOperate(f, "stop", "Stop an agent until it is started again"),
		newAgentOperate(f, "restart", "Restart an agent"),
		newAgentOperate(f, "enable", "Start an agent whenever the node starts, even if it was stopped"),
		newAgentOperate(f, "disable", "Do not start an agent when the node starts"),
		newAgentOperate(f, "rollback", "Run the version before the newest again"),
		newAgentOperate(f, "approve", "Grant an agent all capabilities that it requests; needs the role administrator"),
		newAgentRun(f), newAgentDescribe(f), newAgentMethods(f), newAgentCall(f), newAgentRemove(f),
	}
}

func newAgentInstall(f *shell.Flags) *cobra.Command {
	var name, wheels, memory string
	var how client.Installation
	var grant, noGrant, start bool
	cmd := &cobra.Command{
		Use: "install <folder, .whl, .tar.gz or .zip>", Short: "Install an agent, or another version of one", Args: cobra.ExactArgs(1),
		Long: `Install an agent from a folder with a pyproject.toml, a wheel or an archive. It gets an environment
of Python of its own, a key, and the capabilities that it requests once they are granted: on a terminal this command
asks, otherwise say --grant or --no-grant. A new version is installed beside the old one and then replaces it;
"voltbus agent rollback" returns to the old one. An installation that fails leaves nothing behind.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if grant && noGrant {
				return shell.Usage(errors.New("--grant and --no-grant exclude each other"))
			}
			if memory != "" {
				var size config.Size
				if err := size.UnmarshalText([]byte(memory)); err != nil {
					return shell.Usage(fmt.Errorf("--memory: %w", err))
				}
				how.Memory = int64(size)
			}
			if name == "" {
				name = agentName(args[0])
			}
			how.Grant = "refuse"
			switch asks := term.IsTerminal(int(os.Stdin.Fd())); {
			case grant:
				how.Grant = "all"
			case noGrant, asks:
				how.Grant = "none"
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				return install(ctx, s, name, how, packing{path: args[0], wheels: wheels, ask: !grant && !noGrant, start: start})
			})
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&name, "name", "", "name of the agent; default: that of the folder or file")
	fs.StringVar(&how.Entry, "entry", "", "which agent of the package, if it has several")
	fs.StringVar(&wheels, "wheels", "", "folder with wheels of what it needs, for a node without a registry")
	fs.StringVar(&memory, "memory", "", "most memory that it may use, such as 256MiB; default: agents.memory")
	fs.IntVar(&how.Priority, "priority", -1, "place in the order of starts, from 0, first, to 99; default 50")
	fs.BoolVar(&grant, "grant", false, "allow all that it wants; needs the role administrator")
	fs.BoolVar(&noGrant, "no-grant", false, "allow nothing more than before")
	fs.BoolVar(&start, "start", false, "start it, too")
	_ = cmd.MarkFlagDirname("wheels")
	return cmd
}

// packing is what to install, and what to do afterwards.
type packing struct {
	path, wheels string
	ask, start   bool
}

func install(ctx context.Context, s shell.Session, name string, how client.Installation, p packing) error {
	upload, err := pack(p.path, p.wheels)
	if err != nil {
		return err
	}
	defer upload.Close()
	installed, err := s.Install(ctx, name, how, upload)
	if err != nil {
		return err
	}
	s.Printf("installed %s, version %d (%s)\n", installed.Name, installed.Version, installed.Release)
	if p.ask && how.Grant == "none" {
		if err := askForGrants(ctx, s, &installed); err != nil {
			return err
		}
	}
	if !p.start {
		return nil
	}
	started, err := s.Operate(ctx, name, "start")
	if err == nil {
		s.Printf("%s is %s\n", started.Name, started.State)
	}
	return err
}

// askForGrants shows the grants that an agent requests, and lets the person decide.
func askForGrants(ctx context.Context, s shell.Session, p *answer.Process) error {
	if len(p.Wants) == 0 || string(p.Wants) == "{}" {
		return nil
	}
	s.Printf("it wants %s\n", shell.Plain(string(p.Wants)))
	fmt.Fprint(s.ErrOrStderr(), "Allow all of this? [y/N] ")
	line, _ := bufio.NewReader(s.InOrStdin()).ReadString('\n') // no input means no
	if reply := strings.ToLower(strings.TrimSpace(line)); reply != "y" && reply != "yes" {
		s.Printf("nothing more is allowed; voltbus agent approve %s allows it later\n", p.Name)
		return nil
	}
	_, err := client.Do(ctx, s.Client, processes.Approve, processes.Approval{Agent: processes.Agent{Name: p.Name}, Version: p.Version})
	return err
}

func newAgentOperate(f *shell.Flags, action, short string) *cobra.Command {
	cmd := &cobra.Command{
		Use: action + " <name>", Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				p, err := s.Operate(ctx, args[0], action)
				if err == nil {
					s.Printf("%s is %s, version %d\n", p.Name, p.State, p.Version)
				}
				return err
			})
		},
	}
	if action != "rollback" && action != "approve" {
		f.Where.Elsewhere(cmd)
	}
	return cmd
}

func newAgentRemove(f *shell.Flags) *cobra.Command {
	keep := false
	cmd := &cobra.Command{
		Use: "remove <name>", Short: "Stop an agent and remove it with its key and files; the samples that it recorded stay", Args: cobra.ExactArgs(1),
		Long: `Stop an agent and remove it with its key, its files and its configuration documents, whose versions stay readable. The
samples that it recorded stay. Of an agent that "voltbus agent register" added, the node removes the name, the key and
the grants, so that the name can be registered again; its program is not touched.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error { return removeAgent(s, ctx, args[0], keep) })
		},
	}
	cmd.Flags().BoolVar(&keep, "keep-config", false, "leave its configuration documents")
	return cmd
}

// removeAgent removes an agent installed here, or otherwise one that is only registered.
func removeAgent(s shell.Session, ctx context.Context, name string, keep bool) error {
	_, err := client.Do(ctx, s.Client, processes.Remove, processes.Removal{Agent: processes.Agent{Name: name}, KeepConfig: keep})
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	if err := client.Tell(ctx, s.Client, agents.Remove, agents.Agent{Name: name}); err != nil {
		return err
	}
	s.Printf("%s was registered, not installed: its key and grants are removed here; its program, where it runs, is left alone\n", name)
	return nil
}

func newAgentList(f *shell.Flags) *cobra.Command {
	var out shell.Format
	cmd := &cobra.Command{
		Use: "list", Short: "List the agents that are installed", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				list, err := client.Do(ctx, s.Client, processes.List, processes.Nothing{})
				if err != nil {
					return err
				}
				rows, err := out.Open(s.OutOrStdout(), "name", "state", "version", "release", "priority", "autostart", "pid", "memory_mib", "isolation", "text")
				if err != nil {
					return err
				}
				for _, p := range list.Processes {
					err := rows.Row(p.Name, p.State, p.Version, p.Release, p.Priority, p.Autostart, p.PID, p.Memory>>20, strings.Join(p.Isolation, "+"), cmp.Or(p.Concern, p.Text))
					if err != nil {
						return err
					}
				}
				return rows.End()
			})
		},
	}
	out.Register(cmd)
	return cmd
}

func newAgentStatus(f *shell.Flags) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "status <name>", Short: "Show the status of an agent and its previous exits", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				p, err := client.Do(ctx, s.Client, processes.Show, processes.Agent{Name: args[0]})
				if err != nil {
					return err
				}
				if asJSON {
					return json.NewEncoder(s.OutOrStdout()).Encode(p)
				}
				printStatus(s, &p)
				if f.Where.Node != "" {
					return nil
				}
				return printTraffic(ctx, s, p.Name)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// printTraffic prints an agent's traffic on the bus.
func printTraffic(ctx context.Context, s shell.Session, name string) error {
	a, err := client.Do(ctx, s.Client, agents.Get, agents.Agent{Name: name})
	if err != nil {
		return err
	}
	if a.Online == nil {
		s.Println("  bus         not connected")
		return nil
	}
	s.Printf("  bus         connected %s, sent %s (%s), got %d (%s)\n", shell.Ago(a.Online.Since),
		plural.Of(a.Online.In.Messages, "message"), plural.Of(a.Online.In.Bytes, "byte"),
		a.Online.Out.Messages, plural.Of(a.Online.Out.Bytes, "byte"))
	return nil
}

func printStatus(s shell.Session, p *answer.Process) {
	s.Printf("%s is %s since %s\n", p.Name, p.State, shell.Ago(p.Since))
	if text := cmp.Or(p.Concern, p.Text); text != "" {
		s.Println("  " + shell.Plain(text))
	}
	s.Printf("  version     %d (%s), earlier ones %v\n", p.Version, shell.Plain(p.Release), p.Previous)
	if p.PID != 0 {
		s.Printf("  process     %d, with %d in all, %d MiB, %.0f %% of a processor\n", p.PID, p.Processes, p.Memory>>20, 100*p.CPU)
	}
	isolation := strings.Join(p.Isolation, " and ")
	if isolation == "" {
		isolation = "nothing"
	}
	s.Printf("  isolated by %s\n", isolation)
	if p.LastEnd != nil {
		s.Printf("  last end    %s, it %s\n", shell.Ago(p.LastEnd.At), shell.Plain(p.LastEnd.Text))
	}
	for _, c := range p.Crashes {
		s.Printf("  crash       %s\n", shell.Plain(c))
	}
}

func newAgentLogs(f *shell.Flags) *cobra.Command {
	var lines client.Lines
	follow := false
	cmd := &cobra.Command{
		Use: "logs <name>", Short: "Show the output of an agent", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error { return ShowLogs(ctx, s, args[0], lines, follow) })
		},
	}
	LogFlags(cmd, &lines, &follow)
	return cmd
}

// LogFlags are the flags that select lines of a log.
func LogFlags(cmd *cobra.Command, lines *client.Lines, follow *bool) {
	fs := cmd.Flags()
	fs.BoolVarP(follow, "follow", "f", false, "go on with what comes from now")
	fs.StringVar(&lines.Level, "level", "", "least important level: debug, info, warning, error, or critical of agents")
	fs.StringVar(&lines.Search, "grep", "", "only lines that hold this text")
	fs.StringVar(&lines.Since, "since", "", "first time, such as -1h or 2026-01-31")
	fs.IntVarP(&lines.Limit, "lines", "n", 0, "the newest that many (default 200)")
}

// ShowLogs prints lines of a log.
func ShowLogs(ctx context.Context, s shell.Session, agent string, lines client.Lines, follow bool) error {
	show := func(l answer.ProcessLine) error { return PrintLine(s, l) }
	if follow {
		return s.FollowLogs(ctx, agent, lines, show)
	}
	list, err := client.Do(ctx, s.Client, processes.Logs, processes.Lines{Agent: processes.Agent{Name: agent}, Level: lines.Level, Search: lines.Search, Since: operation.Time(lines.Since), Limit: lines.Limit})
	for i := 0; err == nil && i < len(list.Entries); i++ {
		err = show(list.Entries[i])
	}
	return err
}

// PrintLine prints a line that an agent printed; with a traceback below it, as in Python.
func PrintLine(s shell.Session, l answer.ProcessLine) error {
	extra, trace := "", ""
	if text, is := l.Extra["trace"].(string); is {
		trace = "\n" + shell.PlainLines(strings.TrimSpace(text))
		delete(l.Extra, "trace")
	}
	if len(l.Extra) > 0 {
		if b, err := json.Marshal(l.Extra); err == nil {
			extra = " " + string(b)
		}
	}
	_, err := fmt.Fprintf(s.OutOrStdout(), "%s %-7s %-6s %s%s%s\n", l.Time.Local().Format(time.DateTime), shell.Plain(l.Level), l.Stream, shell.Plain(l.Message), shell.Plain(extra), trace)
	return err
}

// agentName derives an agent's name from that of a folder or file.
func agentName(path string) string {
	base := filepath.Base(path)
	if abs, err := filepath.Abs(path); err == nil {
		base = filepath.Base(abs)
	}
	for _, end := range []string{".tar.gz", ".zip", ".whl"} {
		if stem, ok := strings.CutSuffix(base, end); ok {
			base, _, _ = strings.Cut(stem, "-")
		}
	}
	return base
}
