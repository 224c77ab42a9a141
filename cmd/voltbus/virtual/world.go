// Package virtual is the commands that run and compare things in virtual time.
package virtual

import (
	"bufio"
	"context"
	"encoding/json"
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

	"voltbus/cmd/voltbus/shell"
	"voltbus/fault"
	"voltbus/internal/atomicfile"
	"voltbus/python"
	"voltbus/virtual/kernel"
	"voltbus/virtual/model"
	"voltbus/virtual/world"
)

// NewWorld returns the command "world".
func NewWorld() *cobra.Command {
	cmd := &cobra.Command{
		Use: "world", Short: "Run sites with physical models and agents in virtual time",
		Long: `Run a world that a file describes: sites with models of buildings, agents in Python, and links that delay and lose
messages. A day passes in seconds, twice the same with one seed. The agents are those that run on a node, unchanged.

  voltbus world models                  the models, with their parameters, inputs and outputs
  voltbus world check FILE              find what is wrong with a file
  voltbus world run FILE                run it
  voltbus world run FILE --pace real    run it in real time

A site with "node: whole" is a whole node with its log, control and uplink; the program voltbus-virtual beside this one runs it.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, sub := range []*cobra.Command{newRun(), newCheck(), newModels()} {
		cmd.AddCommand(sub)
		shell.StrictArgs(sub)
	}
	return cmd
}

func newCheck() *cobra.Command {
	return &cobra.Command{
		Use: "check FILE", Short: "Find what is wrong with a file of a world", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := world.Read(args[0])
			if err != nil {
				return err
			}
			if _, err := world.New(f, world.Options{}); err != nil {
				return err
			}
			cmd.Printf("%s: no problem found\n", args[0])
			return nil
		},
	}
}

func newModels() *cobra.Command {
	return &cobra.Command{
		Use: "models", Short: "List the models, with their parameters, inputs and outputs", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, k := range model.Kinds() {
				cmd.Printf("%s: %s\n", k.Name, k.Doc)
				for _, p := range k.Parameters {
					cmd.Printf("  parameter %-10s %g  %s\n", p.Name, p.Default, p.Unit)
				}
				for _, p := range k.Inputs {
					cmd.Printf("  input     %-10s %g  %s\n", p.Name, p.Default, p.Unit)
				}
				for _, p := range k.Outputs {
					cmd.Printf("  output    %-10s %s\n", p.Name, p.Unit)
				}
			}
			cmd.Println("fmu: a Functional Mock-up Unit for co-simulation (file), with the parameters, inputs and outputs that it has")
			cmd.Println("energyplus: a building of EnergyPlus (file, weather, outputs, actuators)")
			return nil
		},
	}
}

// order holds the arguments of "world run".
type order struct {
	seed                        uint64
	until                       time.Duration
	pace, history, save, branch string
	from                        string
	json                        bool
}

func newRun() *cobra.Command {
	o := order{}
	cmd := &cobra.Command{
		Use: "run FILE", Short: "Run a world, and tell what happened", Args: cobra.ExactArgs(1),
		Long: `Run a world, and tell what happened: how fast, with which seed, what failed, and a digest that is equal for equal runs.

With --pace step the clock waits: an empty line goes to the next moment, "go" and "pause" let it run and stop it, "pace 60"
makes an hour last a minute, "where" says what it waits for, and "quit" ends the run. These lines are read with --pace real
and a number, too.

A run of models can be saved (--save) and go on (--from), with another seed or other parameters as a branch. A run
with agents is repeated from its start instead: --branch 6h=7 has the seed 7 from the sixth hour on.`,
		Example: `  voltbus world run four.yaml --history four.csv
  voltbus world run four.yaml --until 6h --save six.json
  voltbus world run four.yaml --from six.json --seed 7`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	fs := cmd.Flags()
	fs.Uint64Var(&o.seed, "seed", 0, "where everything random starts, instead of what the file says; with --from from there on")
	fs.DurationVar(&o.until, "until", 0, "when to stop, since the start of the world (default the duration in the file)")
	fs.StringVar(&o.pace, "pace", "fast", "fast, real, step, or how many times real time, such as 60")
	fs.StringVar(&o.history, "history", "", "file for all values: time, point, value and quality, a line each")
	fs.StringVar(&o.save, "save", "", "file for the run at its end, for --from")
	fs.StringVar(&o.from, "from", "", "file of a run that goes on here")
	fs.StringVar(&o.branch, "branch", "", "a moment and the seed from there on, such as 6h=7")
	fs.BoolVar(&o.json, "json", false, "print the result as JSON, for programs")
	return cmd
}

func (o *order) run(cmd *cobra.Command, name string) (err error) {
	f, err := world.Read(name)
	if err != nil {
		return err
	}
	opts := world.Options{Log: cmd.ErrOrStderr()}
	changed := cmd.Flags().Changed("seed")
	if changed && o.from == "" {
		opts.Seed = &o.seed
	}
	if o.history != "" {
		file, err := os.Create(o.history)
		if err != nil {
			return fault.E("world run", fault.Invalid, o.history, err)
		}
		out := bufio.NewWriterSize(file, 1<<16)
		opts.History = out
		defer func() { err = errors.Join(err, out.Flush(), file.Close()) }()
	}
	sdk, remove, err := unpackSDK()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	opts.SDK, opts.Nodes = sdk, findNodes()
	w, err := world.New(f, opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := o.load(w); err != nil {
		return err
	}
	if changed && o.from != "" {
		w.Reseed(o.seed)
	}
	if err := o.play(cmd, w); err != nil {
		return err
	}
	return o.finish(cmd, w)
}

// findNodes returns the program that runs whole nodes: beside this one, or in the path; "" if there is none.
func findNodes() string {
	const name = "voltbus-virtual"
	if own, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(own), name)
		if _, err := os.Stat(beside); err == nil {
			return beside
		}
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	return found
}

// unpackSDK writes the SDK of this program where an interpreter finds it, as a wheel, which Python reads as it is.
func unpackSDK() (file string, remove func() error, err error) {
	name, content, err := python.Wheel()
	if errors.Is(err, python.ErrNotBuilt) {
		return "", func() error { return nil }, nil // the interpreter may have it
	}
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "voltbus-world-")
	if err != nil {
		return "", nil, err
	}
	remove = func() error { return os.RemoveAll(dir) }
	file = filepath.Join(dir, name)
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return file, remove, nil
}

// load has the world go on where a run was saved.
func (o *order) load(w *world.World) error {
	if o.from == "" {
		return nil
	}
	data, err := os.ReadFile(o.from)
	if errors.Is(err, fs.ErrNotExist) {
		return fault.E("world run", fault.NotFound, o.from, err)
	}
	if err != nil {
		return err
	}
	return w.Load(data)
}

// play runs the world at its pace.
func (o *order) play(cmd *cobra.Command, w *world.World) error {
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	interactive, err := setPace(w.Pacer(), o.pace)
	if err != nil {
		return err
	}
	if interactive {
		go func() { // ends with the input, at the latest with this process
			if control(cmd.InOrStdin(), cmd.OutOrStdout(), w.Pacer()) {
				cancel()
			}
		}()
	}
	if o.branch != "" {
		at, seed, err := parseBranch(o.branch)
		if err != nil {
			return err
		}
		if err := w.Run(ctx, at); err != nil {
			return err
		}
		w.Reseed(seed)
	}
	err = w.Run(ctx, o.until)
	if interactive && errors.Is(err, context.Canceled) && cmd.Context().Err() == nil {
		return nil // quit: what was done until then is told
	}
	if err == nil {
		w.Settle() // before whole nodes end with ctx
	}
	return err
}

func parseBranch(text string) (time.Duration, uint64, error) {
	at, seed, found := strings.Cut(text, "=")
	d, errAt := time.ParseDuration(at)
	n, errSeed := strconv.ParseUint(seed, 10, 64)
	if !found || errAt != nil || errSeed != nil || d <= 0 {
		return 0, 0, shell.Usage(fmt.Errorf("--branch %q: write a moment and a seed, such as 6h=7", text))
	}
	return d, n, nil
}

// setPace sets the pace that a text says, and reports whether a person controls it.
func setPace(p *kernel.Pacer, text string) (interactive bool, err error) {
	switch text {
	case "fast":
		return false, p.Set(0)
	case "step":
		p.Pause()
		return true, nil
	case "real":
		return true, p.Set(1)
	}
	ratio, err := strconv.ParseFloat(text, 64)
	if err == nil {
		err = p.Set(ratio)
	}
	if err != nil {
		return false, shell.Usage(fmt.Errorf("--pace %q: write fast, real, step, or how many times real time, such as 60", text))
	}
	return true, nil
}

// control reads what a person wants of the clock until the input ends. It reports whether the run shall end.
func control(in io.Reader, out io.Writer, p *kernel.Pacer) (quit bool) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		word, rest, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		switch word {
		case "", "step":
			p.Step()
		case "go":
			p.Resume()
		case "pause":
			p.Pause()
		case "quit":
			return true
		case "where":
			now, next := p.Where()
			fmt.Fprintf(out, "%s, next %s\n", now, next)
		case "pace":
			if _, err := setPace(p, rest); err != nil {
				fmt.Fprintln(out, err)
			}
		default:
			fmt.Fprintf(out, "%q: write an empty line, go, pause, pace N, where or quit\n", word)
		}
	}
	return false
}

func (o *order) finish(cmd *cobra.Command, w *world.World) error {
	if o.save != "" {
		data, err := w.Save()
		if err != nil {
			return err
		}
		if err := new(atomicfile.Writer).Write(o.save, data, 0o600); err != nil {
			return err
		}
	}
	if o.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(w.Result())
	}
	return w.Result().Text(cmd.OutOrStdout())
}
