package dnp3tool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/driver/dnp3/field"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
)

const dnp3FreezeHelp = `Have an outstation copy its counters into frozen counters at one moment (IEEE 1815, functions 7 to 12);
with --clear it sets them to zero then, which the readings of every other master see too. It is asked for
a confirmation first. The frozen counters are read and shown then, if there is an answer and no --at.

  voltbus dnp3 freeze --tcp 10.0.0.5                all counters
  voltbus dnp3 freeze --tcp 10.0.0.5 --clear counter:0-9
  voltbus dnp3 freeze --tcp 10.0.0.5 --at 2026-01-01T00:00:00Z --every 15m
  voltbus dnp3 freeze --tcp 10.0.0.5 analog_input   of outstations that freeze analog inputs`

type dnp3Freeze struct {
	Flags

	clear, silent bool
	yes           bool
	at            string
	every         time.Duration
	out           shell.Format
}

func newDNP3Freeze() *cobra.Command {
	var z dnp3Freeze
	cmd := &cobra.Command{
		Use: "freeze [what]", Short: "Freeze the counters of an outstation", Long: dnp3FreezeHelp, Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return z.run(cmd, append(args, "counter")[0]) },
	}
	z.register(cmd)
	z.out.Register(cmd)
	fs := cmd.Flags()
	fs.BoolVar(&z.clear, "clear", false, "set them to zero then")
	fs.BoolVar(&z.silent, "no-answer", false, "do not ask for an answer")
	fs.BoolVarP(&z.yes, "yes", "y", false, "do not ask for a confirmation")
	fs.StringVar(&z.at, "at", "", "not now, but at this time by the clock of the outstation, such as 2026-01-01T00:00:00Z")
	fs.DurationVar(&z.every, "every", 0, "with --at: again and again from then on")
	return cmd
}

// request returns the freeze request, and one that reads the frozen counters.
func (z *dnp3Freeze) request(what string) (freeze, read *master.Request, err error) {
	o, err := freezable(what)
	if err != nil {
		return nil, nil, fmt.Errorf("%q %w", what, err)
	}
	frozen := object.G21V0
	if o.variation.Kind() == object.KindAnalogInput {
		frozen = object.G31V0
	}
	switch {
	case z.at == "" && z.every != 0:
		return nil, nil, errors.New("--every needs --at, the time of the first freeze")
	case z.at != "" && (z.clear || z.silent):
		return nil, nil, errors.New("write --at, or --clear and --no-answer, not both")
	case z.every < 0 || z.every.Milliseconds() > 1<<32-1:
		return nil, nil, errors.New("--every must be between 1ms and 49 days")
	case z.at != "":
		at, err := time.Parse(time.RFC3339, z.at)
		if err != nil {
			return nil, nil, fmt.Errorf("--at %q is no time; write such as 2026-01-01T00:00:00Z", z.at)
		}
		return master.FreezeAt(at, z.every, o.write), nil, nil
	case z.silent:
		return master.FreezeUnanswered(z.clear, o.write), nil, nil
	case z.clear:
		return master.FreezeClear(o.write), master.ReadAll(frozen), nil
	}
	return master.Freeze(o.write), master.ReadAll(frozen), nil
}

// freezable parses counter, counter:0-9, g20v0 or analog_input.
func freezable(what string) (o objects, err error) {
	o, err = namedObjects(what)
	if kind := o.variation.Kind(); err == nil && (kind != object.KindCounter && kind != object.KindAnalogInput || o.variation.Event()) {
		err = errNotFrozen
	}
	return o, err
}

var errNotFrozen = errors.New("cannot be frozen; write counter or analog_input, with a range of indexes such as counter:0-9")

func (z *dnp3Freeze) run(cmd *cobra.Command, what string) error {
	freeze, read, err := z.request(what)
	if err != nil {
		return shell.Usage(fmt.Errorf("%w; see voltbus dnp3 freeze --help", err))
	}
	c, err := z.Config()
	if err != nil {
		return err
	}
	verb := "Freeze"
	if z.clear {
		verb = "Freeze, and then clear,"
	}
	where := fmt.Sprintf("%s of outstation %d at %s", what, z.Outstation, c.LineName())
	if err := confirmed(cmd, z.yes, verb+" "+where); err != nil {
		return err
	}
	var values []Reading
	f, err := field.Open(cmd.Context(), c, c.ReadOnlyMaster(), &Readings{Take: func(r Reading) { values = append(values, r) }}, nil)
	if err != nil {
		return err
	}
	err = z.ask(cmd.Context(), f, freeze, read)
	f.Close() // values is then no longer modified
	if err != nil {
		return err
	}
	if read == nil {
		cmd.Printf("%s: sent\n", where)
		return nil
	}
	return readingsTo(&z.out, cmd, values)
}

// askStatement freezes, and reads what was frozen.
func (z *dnp3Freeze) ask(ctx context.Context, f *field.Link, freeze, read *master.Request) error {
	if _, err := f.Ask(ctx, freeze); err != nil {
		return err
	}
	if read == nil {
		return nil
	}
	if _, err := f.Ask(ctx, read); err != nil {
		return fmt.Errorf("the counters are frozen, but the frozen ones cannot be read: %w", err)
	}
	return nil
}
