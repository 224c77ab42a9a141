package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/fault"
	"voltbus/lab/experiment"
	"voltbus/lab/report"
	"voltbus/lab/runs"
	"voltbus/lab/study"
)

// labDir is the default folder of runs.
const labDir = "voltbus-lab"

// labPartCommand is the hidden subcommand that runs a part of an experiment.
const labPartCommand = "lab-part"

func newLab(f *shell.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "Measure Voltbus against published tables, on this machine",
		Long: `Measure Voltbus on this machine and compare the figures with published ones. Each experiment
repeats a published table, or studies a fault, and writes a report that states the method,
the machine and the limits of the figures.

  voltbus lab list                          the experiments
  voltbus lab show pnnl-30858-table4        one of them: question, table, method, settings
  voltbus lab run pnnl-30858-table4         measure it; --quick shows in seconds that it works
  voltbus lab report                        the stored runs
  voltbus lab capacity                      how much load this machine can carry`,
	}
	cmd.AddCommand(newLabList(), newLabShow(), newLabRun(f), newLabReport(), newLabCapacity())
	for _, sub := range cmd.Commands() {
		shell.StrictArgs(sub)
	}
	return cmd
}

// The folders of the lab in a node's data directory.
const (
	labFolder    = "lab"
	capacityFile = "capacity.json"
)

// newKeeper returns the keeper of a node's runs.
func newKeeper(data string) (*runs.Keeper, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return runs.Open(runs.Options{
		Dir: filepath.Join(data, labFolder), Program: []string{self, "lab"}, Experiments: study.List(),
		Capacity: filepath.Join(data, capacityFile),
	})
}

func newLabList() *cobra.Command {
	var form shell.Format
	cmd := &cobra.Command{
		Use: "list", Short: "List the experiments", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := form.Open(cmd.OutOrStdout(), "experiment", "question")
			if err != nil {
				return err
			}
			for _, e := range study.List() {
				if err := out.Row(e.Name, e.Question); err != nil {
					return err
				}
			}
			return out.End()
		},
	}
	form.Register(cmd)
	return cmd
}

// completeExperiments completes the names of experiments.
func completeExperiments(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, e := range study.List() {
		names = append(names, e.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func newLabShow() *cobra.Command {
	return &cobra.Command{
		Use: "show EXPERIMENT", Short: "Show an experiment: question, published table, method, settings",
		Args: cobra.ExactArgs(1), ValidArgsFunction: completeExperiments,
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := study.Find(args[0])
			if err != nil {
				return err
			}
			show(cmd.OutOrStdout(), &e)
			return nil
		},
	}
}

func show(w io.Writer, e *experiment.Experiment) {
	fmt.Fprintf(w, "%s\n\n%s\n", e.Title, e.Question)
	list := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(w, "\n%s\n  %s\n", title, strings.Join(lines, "\n  "))
		}
	}
	list("Method", e.Method)
	list("Limits", e.Limits)
	if e.Source != "" {
		list("Published in", []string{e.Source})
	}
	var rows []string
	for _, p := range e.Published {
		var figures []string
		for _, f := range p.Figures {
			figures = append(figures, fmt.Sprintf("%s %s (%s)", experiment.Round(f.Value), e.Metric.Unit, f.Label))
		}
		rows = append(rows, p.Case.Name+": "+strings.Join(figures, ", "))
	}
	list("Published table: "+e.Metric.Name, rows)
	var settings []string
	for _, s := range e.Settings {
		quick := ""
		if s.Quick != "" {
			quick = ", quick " + s.Quick
		}
		settings = append(settings, fmt.Sprintf("%s=%s%s: %s", s.Name, s.Default, quick, s.Doc))
	}
	list("Settings, for --set", settings)
	var peers []string
	for _, p := range e.Peers {
		line := p.Name + ": is here"
		if err := p.Find(); err != nil {
			line = p.Name + ": " + err.Error()
		}
		peers = append(peers, line)
	}
	list("Peers, with --with-peers", peers)
}

// labOrder holds the arguments of "lab run".
type labOrder struct {
	opts     experiment.Options
	set      []string
	out, id  string
	json     bool
	progress bool
}

func newLabRun(f *shell.Flags) *cobra.Command {
	o := labOrder{out: labDir}
	cmd := &cobra.Command{
		Use: "run EXPERIMENT", Short: "Run an experiment and write its report",
		Long: `Run an experiment on this machine and write result.json and report.html into a folder of
its own below --out. A pattern such as 'ami-*' runs several, one after another. Only addresses of loopback and of
network namespaces that the run makes are used. A run that is interrupted leaves nothing behind. Run nothing else on the machine meanwhile: the report shows its load.`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: completeExperiments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("log-level") {
				f.LogLevel = "warn"
			}
			log, err := f.Logger()
			if err != nil {
				return err
			}
			return o.run(cmd, args[0], log)
		},
	}
	fs := cmd.Flags()
	fs.IntVar(&o.opts.Repeats, "repeats", 0, "how often each case is measured (default 5, with --quick 1)")
	fs.BoolVar(&o.opts.Quick, "quick", false, "few and small cases, to see that it works; no figures to quote")
	fs.Int64Var(&o.opts.Seed, "seed", 1, "where everything random starts")
	fs.StringArrayVar(&o.set, "set", nil, `change a setting, as name=value; "lab show" lists them`)
	fs.StringVar(&o.out, "out", o.out, "directory for the runs")
	fs.BoolVar(&o.json, "json", false, "print the result as JSON, for programs")
	fs.BoolVar(&o.progress, "progress", false, "print how it goes instead, one JSON object a line, for programs")
	fs.BoolVar(&o.opts.WithPeers, "with-peers", false, "measure other programs that are installed here, in the same run")
	fs.StringVar(&o.id, "id", "", "name of the run")
	_ = fs.MarkHidden("id")
	_ = cmd.MarkFlagDirname("out")
	return cmd
}

func (o *labOrder) run(cmd *cobra.Command, name string, log *slog.Logger) error {
	list, err := study.Match(name)
	if err != nil {
		return err
	}
	if err := o.prepare(log); err != nil {
		return err
	}
	for i := range list {
		if err := o.execute(cmd, list[i]); err != nil {
			return err
		}
	}
	return nil
}

// execute runs one experiment and prints what it found.
func (o *labOrder) execute(cmd *cobra.Command, e experiment.Experiment) error {
	ctx, id := cmd.Context(), o.id
	if o.id != "" { // started by a node: ends with the node
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		go func() { // ends with the input, at the latest with this process
			_, _ = io.Copy(io.Discard, cmd.InOrStdin())
			cancel()
		}()
	} else {
		id = runs.NewID(e.Name, time.Now())
	}
	o.opts.Progress = o.show(cmd)
	folder, result, err := runs.Execute(ctx, o.out, id, e, o.opts)
	if err != nil || o.progress {
		return err
	}
	if o.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(result)
	}
	cmd.Println()
	if err := report.Text(cmd.OutOrStdout(), result); err != nil {
		return err
	}
	cmd.Printf("\nreport  %s\nresult  %s\n", filepath.Join(folder, report.PageFile), filepath.Join(folder, report.ResultFile))
	return nil
}

// prepare fills in what the command line does not specify.
func (o *labOrder) prepare(log *slog.Logger) error {
	if o.opts.Repeats < 0 {
		return shell.Usage(fmt.Errorf("--repeats %d is out of range; write 1 or more", o.opts.Repeats))
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	v := shell.Version()
	o.opts.Program, o.opts.Command, o.opts.Log = []string{self, labPartCommand}, o.command(), log
	o.opts.Version, o.opts.Commit = v.Version, v.Commit
	o.opts.Set = map[string]string{}
	for _, s := range o.set {
		name, value, found := strings.Cut(s, "=")
		if !found {
			return shell.Usage(fmt.Errorf("--set %q: write name=value", s))
		}
		o.opts.Set[name] = value
	}
	return nil
}

// command is the command line that repeats the run, without options that only concern its output.
func (o *labOrder) command() []string {
	args := []string{"voltbus"}
	for i := 1; i < len(os.Args); i++ {
		switch a := os.Args[i]; {
		case a == "--out" || a == "--id":
			i++
		case a == "--progress" || strings.HasPrefix(a, "--out=") || strings.HasPrefix(a, "--id="):
		default:
			args = append(args, a)
		}
	}
	return args
}

// show returns the function that prints the progress: lines of JSON, or a line for people on standard error.
func (o *labOrder) show(cmd *cobra.Command) func(experiment.Progress) {
	if o.progress {
		enc := json.NewEncoder(cmd.OutOrStdout())
		return func(p experiment.Progress) { _ = enc.Encode(p) } // an error means that the reader has disconnected
	}
	return func(p experiment.Progress) {
		if p.Value == nil {
			return
		}
		subject := ""
		if p.Subject != experiment.Own {
			subject = p.Subject + ", "
		}
		cmd.PrintErrf("%s%s, repeat %d of %d: %s\n", subject, p.Case, p.Repeat, p.Repeats, experiment.Round(*p.Value))
	}
}

func newLabReport() *cobra.Command {
	out, asJSON := labDir, false
	cmd := &cobra.Command{
		Use: "report [RUN [RUN]]", Short: "List the runs, show one, or compare two",
		Long: `Without an argument, list the stored runs. With one, print its table and verdict, and
rewrite its report.html. With two, compare the second with the first. "last" names the
newest run.`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := runs.IDs(out)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return listRuns(cmd, out, ids, shell.Format{JSON: asJSON})
			}
			var results []*experiment.Result
			for _, id := range args {
				r, err := readRun(out, id, ids)
				if err != nil {
					return err
				}
				results = append(results, r)
			}
			if len(results) == 2 {
				return report.Compare(cmd.OutOrStdout(), results[0], results[1])
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(results[0])
			}
			return report.Text(cmd.OutOrStdout(), results[0])
		},
	}
	cmd.Flags().StringVar(&out, "out", out, "directory of the runs")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, for programs")
	_ = cmd.MarkFlagDirname("out")
	return cmd
}

func listRuns(cmd *cobra.Command, dir string, ids []string, form shell.Format) error {
	if form.Name == "" {
		form.Name = "table"
	}
	out, err := form.Open(cmd.OutOrStdout(), "run", "started", "repeats", "quick", "report")
	if err != nil {
		return err
	}
	for _, id := range ids {
		folder := filepath.Join(dir, id)
		r, err := report.Read(folder)
		if err != nil {
			cmd.PrintErrln(err)
			continue
		}
		err = out.Row(id, r.Started.Format(time.RFC3339), strconv.Itoa(r.Repeats), strconv.FormatBool(r.Quick), filepath.Join(folder, report.PageFile))
		if err != nil {
			return err
		}
	}
	return out.End()
}

// readRun reads a run by its name and regenerates its page.
func readRun(dir, id string, ids []string) (*experiment.Result, error) {
	if id == "last" && len(ids) > 0 {
		id = ids[0]
	}
	if !slices.Contains(ids, id) {
		return nil, fault.E("lab report", fault.NotFound, id, errors.New(`there is no such run here; "voltbus lab report" lists them, --out names another directory`))
	}
	r, err := report.Read(filepath.Join(dir, id))
	if err != nil {
		return nil, err
	}
	return r, report.Write(filepath.Join(dir, id), r)
}

func newLabPart() *cobra.Command {
	return &cobra.Command{
		Use: labPartCommand, Hidden: true, Args: cobra.ExactArgs(1),
		Short: "Run a component of an experiment until standard input is closed",
		RunE: func(cmd *cobra.Command, args []string) error {
			return study.Serve(cmd.Context(), args[0], cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}
