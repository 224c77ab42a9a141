package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"voltbus/agent"
	"voltbus/agent/description"
	"voltbus/agent/journal"
	"voltbus/agent/workshop"
	"voltbus/api/client"
	"voltbus/cmd/voltbus/shell"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/internal/datadir"
	"voltbus/operation/agents"
	"voltbus/python"
)

// trial is an agent under development that runs from its sources.
type trial struct {
	shell.Session
	project   workshop.Project
	name      string
	entry     string
	reload    bool
	bus, ca   string // address of the bus, and the file with its authority
	keyFile   string
	public    string
	colourful bool
}

const (
	lookEvery  = 400 * time.Millisecond // interval of checking the sources
	trialGrace = 10 * time.Second
)

func newAgentRun(f *shell.Flags) *cobra.Command {
	t := &trial{project: workshop.Project{SDK: python.Wheel}}
	cmd := &cobra.Command{
		Use: "run [<folder>]", Short: "Run an agent from its sources, in the foreground, while you write it", Args: cobra.MaximumNArgs(1),
		Long: `Run an agent from its sources, in the foreground, until Ctrl-C. It gets an identity on the node and all
capabilities that it requests while it runs, so you need the role administrator; its documents stay. The
sources are used in place, with a Python environment in .venv beside them, or with --python.
The agent is not isolated. With --reload it restarts when a file changes.`,
		Example: `  voltbus agent new boiler-watch && cd boiler-watch
  voltbus agent run --reload`,
		RunE: func(cmd *cobra.Command, args []string) error {
			t.project.Dir = "."
			if len(args) > 0 {
				t.project.Dir = args[0]
			}
			if t.name == "" {
				t.name = agentName(t.project.Dir)
			}
			if err := t.place(&f.Where); err != nil {
				return err
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				t.Session = s
				return t.run(ctx)
			})
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&t.name, "name", "", "name of the agent; default: that of the folder")
	fs.StringVar(&t.entry, "entry", "", "which agent of the package, if it has several")
	fs.StringVar(&t.project.Python, "python", "", "interpreter to use as it is, with the SDK and all that the agent needs")
	fs.StringVar(&t.project.Wheels, "wheels", "", "folder with wheels of what it needs, for a machine without a registry")
	fs.BoolVar(&t.reload, "reload", false, "start anew when a file changes")
	fs.StringVar(&t.bus, "bus", "", "of --url: address of the node's bus, host:port")
	_ = cmd.MarkFlagDirname("wheels")
	return cmd
}

// place finds the bus, and checks the name before creating anything.
func (t *trial) place(w *shell.Target) error {
	if err := agent.CheckName(t.name); err != nil {
		return err
	}
	t.project.Log = func(text string) { fmt.Fprintln(os.Stderr, text) }
	if w.URL != "" {
		if t.ca = w.CaFile; t.bus == "" || t.ca == "" {
			return shell.Usage(errors.New("with --url say where its bus is, with --bus host:port, and its authority, with --ca-file"))
		}
		return nil
	}
	dir, err := w.Directory()
	if err != nil {
		return err
	}
	if !datadir.InUse(dir) {
		return fault.E("voltbus", fault.Unreachable, dir, errors.New("no node runs on this data directory; start one with voltbus run or voltbus demo"))
	}
	addresses, err := shell.ReadAddresses(dir)
	if err != nil {
		return err
	}
	t.ca = filepath.Join(dir, identity.TLSFolder, "ca.pem")
	if t.bus = addresses.Bus; t.bus == "" {
		return fault.E("voltbus", fault.Unreachable, dir, errors.New("the node has no bus for others; set listen.bus in its configuration"))
	}
	return nil
}

// run admits the agent, runs it, and removes it.
func (t *trial) run(ctx context.Context) (err error) {
	if t.colourful = os.Getenv("NO_COLOR") == ""; t.colourful {
		out, ok := t.OutOrStdout().(*os.File)
		t.colourful = ok && term.IsTerminal(int(out.Fd()))
	}
	if t.ca, err = filepath.Abs(t.ca); err != nil {
		return fmt.Errorf("find the node's authority: %w", err)
	}
	if err := t.openKey(); err != nil {
		return err
	}
	admitted := false
	defer func() {
		if admitted {
			err = errors.Join(err, t.leave(context.WithoutCancel(ctx)))
		}
	}()
	for first := true; ; first = false {
		before := t.project.Look()
		started, err := t.once(ctx, &admitted, first)
		switch {
		case ctx.Err() != nil:
			return nil
		case !t.reload, first && !started:
			return err
		case err != nil:
			fmt.Fprintln(t.ErrOrStderr(), shell.PlainLines(err.Error()))
			fmt.Fprintln(t.ErrOrStderr(), "waiting for a change")
			t.project.AwaitChange(ctx, before, lookEvery)
		}
		if ctx.Err() != nil {
			return nil
		}
		fmt.Fprintln(t.ErrOrStderr(), "starting anew")
	}
}

// once prepares and runs the agent until it ends or its sources change. started reports that it could be
// started.
func (t *trial) once(ctx context.Context, admitted *bool, first bool) (started bool, err error) {
	before := t.project.Look()
	interpreter, err := t.project.Prepare(ctx)
	if err != nil {
		return false, err
	}
	e, err := description.Find(ctx, t.project.Run, interpreter, t.entry)
	if err != nil {
		return false, err
	}
	d, err := description.Read(ctx, t.project.Run, interpreter, e.Entry)
	if err != nil {
		return false, err
	}
	if err := t.admit(ctx, &d, admitted); err != nil {
		return false, err
	}
	if first {
		fmt.Fprintf(t.ErrOrStderr(), "%s runs; Ctrl-C ends it\n", t.name)
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	child := workshop.Child{
		Args: []string{interpreter, "-m", "voltbus", "run", e.Entry}, Dir: t.project.Dir, Line: t.show, Grace: trialGrace,
		Env: []string{
			"VOLTBUS_BUS=" + t.bus, "VOLTBUS_CA=" + t.ca, "VOLTBUS_KEY=" + t.keyFile, "VOLTBUS_AGENT=" + t.name,
			"VOLTBUS_DIR=" + t.absolute(), "PYTHONUNBUFFERED=1", "PYTHONDONTWRITEBYTECODE=1",
		},
	}
	ended := make(chan error, 1)
	go func() { ended <- child.Run(running) }()
	if !t.reload {
		return true, <-ended
	}
	changed := make(chan struct{})
	go func() {
		defer close(changed)
		t.project.AwaitChange(running, before, lookEvery)
	}()
	select {
	case err = <-ended: // on its own
		if err == nil && ctx.Err() == nil {
			err = fault.E("voltbus", fault.Rejected, t.name, errors.New("has ended"))
		}
		stop()
		<-changed
	case <-changed:
		stop()
		err = <-ended // on request
	}
	return true, err
}

func (t *trial) absolute() string {
	if abs, err := filepath.Abs(t.project.Dir); err == nil {
		return abs
	}
	return t.project.Dir
}

// openKey opens the key of the agent, which is kept so that leftovers of a killed run are recognised.
func (t *trial) openKey() error {
	base, err := os.UserConfigDir()
	if err != nil {
		base = os.TempDir()
	}
	dir := filepath.Join(base, "voltbus", "trial")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fault.E("voltbus", fault.Unavailable, dir, err)
	}
	t.keyFile = filepath.Join(dir, t.name+".nk")
	key, err := identity.OpenKey(t.keyFile)
	if err != nil {
		return err
	}
	t.public = key.Public()
	return nil
}

// admit grants the agent what it requests.
func (t *trial) admit(ctx context.Context, d *description.Description, admitted *bool) error {
	var wants identity.Grants
	if len(d.Wants) > 0 {
		if err := json.Unmarshal(d.Wants, &wants); err != nil {
			return fault.E("voltbus", fault.Invalid, "wants", err)
		}
	}
	known, err := client.Do(ctx, t.Session.Client, agents.Get, agents.Agent{Name: t.name})
	switch {
	case fault.Is(err, fault.NotFound):
		_, err = client.Do(ctx, t.Session.Client, agents.Add, agents.New{Name: t.name, Public: t.public, Grants: wants})
	case err != nil:
		return err
	case known.Public != t.public:
		return fault.E("voltbus", fault.Conflict, t.name, errors.New("is the name of another agent of this node; choose one with --name"))
	case known.Revoked != nil:
		return fault.E("voltbus", fault.Refused, t.name, errors.New("was revoked; choose another name with --name"))
	case known.Online != nil && !*admitted:
		return fault.E("voltbus", fault.Conflict, t.name, errors.New("is being run already; end that one, or choose another name with --name"))
	default:
		_, err = client.Do(ctx, t.Session.Client, agents.SetGrants, agents.Grants{Agent: agents.Agent{Name: t.name}, Grants: wants})
	}
	*admitted = *admitted || err == nil
	return err
}

// leave removes the agent from the node.
func (t *trial) leave(ctx context.Context) error {
	err := client.Tell(ctx, t.Session.Client, agents.Remove, agents.Agent{Name: t.name})
	if err == nil || fault.Is(err, fault.NotFound) {
		err = os.Remove(t.keyFile)
	}
	return err
}

// Colours of levels, as terminal codes.
var colours = map[string]string{"debug": "\x1b[2m", "warning": "\x1b[33m", "error": "\x1b[31m", "critical": "\x1b[1;31m"} //nolint:gochecknoglobals // a table

// show prints a line of the agent.
func (t *trial) show(line []byte) {
	e := journal.Parse(line, time.Now())
	trace, _ := e.Extra["trace"].(string)
	delete(e.Extra, "trace")
	extra := ""
	if len(e.Extra) > 0 {
		if b, err := json.Marshal(e.Extra); err == nil {
			extra = " " + string(b)
		}
	}
	text := fmt.Sprintf("%s %-8s %s%s", e.Time.Local().Format("15:04:05.000"), shell.Plain(e.Level), shell.Plain(e.Message), shell.Plain(extra))
	if trace != "" {
		text += "\n" + shell.PlainLines(strings.TrimSpace(trace))
	}
	if colour := colours[e.Level]; t.colourful && colour != "" {
		text = colour + text + "\x1b[0m"
	}
	_, _ = io.WriteString(t.OutOrStdout(), text+"\n") // an error means that the terminal is closed
}
