package dnp3tool

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/driver/dnp3/field"
	"voltbus/driver/dnp3/pointlist"
	"voltbus/fault"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
)

const operateHelp = `Operate one point of an outstation: select it, and operate it only if the outstation
accepts that; --direct leaves the select out. It is asked for a confirmation first.

  binary INDEX latch_on|latch_off|pulse_on|pulse_off|close|trip
  analog INDEX VALUE            in the size that --size names`

type dnp3Operate struct {
	Flags
	direct, noAnswer, yes bool
	count                 uint8
	on, off               time.Duration
	size                  string
}

func newDNP3Operate() *cobra.Command {
	var o dnp3Operate
	cmd := &cobra.Command{
		Use: "operate binary|analog INDEX VALUE", Short: "Switch an output or set an analog output of an outstation", Long: operateHelp,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	o.register(cmd)
	fs := cmd.Flags()
	fs.BoolVar(&o.direct, "direct", false, "operate without a select before")
	fs.BoolVar(&o.noAnswer, "no-answer", false, "operate without a select and without an answer")
	fs.BoolVarP(&o.yes, "yes", "y", false, "do not ask for a confirmation")
	fs.Uint8Var(&o.count, "count", 1, "how often a binary operation is done")
	fs.DurationVar(&o.on, "on", time.Second, "length of a pulse")
	fs.DurationVar(&o.off, "off", 0, "pause behind a pulse")
	fs.StringVar(&o.size, "size", "float", "size of an analog value: int16, int32, float or double")
	return shell.TakesNegatives(cmd)
}

func (o *dnp3Operate) run(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) != 3:
		return shell.Usage(fmt.Errorf("write three words, such as binary 3 latch_on or analog 2 450, not %d; see voltbus dnp3 operate --help", len(args)))
	case o.direct && o.noAnswer:
		return shell.Usage(errors.New("write --direct or --no-answer, not both: --no-answer does without a select too"))
	}
	command, err := o.command(args)
	if err != nil {
		return shell.Usage(fmt.Errorf("%w; see voltbus dnp3 operate --help", err))
	}
	c, err := o.Config()
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%s %s %s of outstation %d at %s", args[0], args[1], args[2], o.Outstation, c.LineName())
	if err := confirmed(cmd, o.yes, "Operate "+what); err != nil {
		return err
	}
	f, err := field.Open(cmd.Context(), c, c.ReadOnlyMaster(), &Readings{Take: func(Reading) {}}, nil)
	if err != nil {
		return err
	}
	defer f.Close()
	result, err := f.Ask(cmd.Context(), o.request(command))
	if errors.Is(err, master.ErrStatus) {
		for _, status := range result.Statuses {
			if status != object.StatusSuccess {
				return pointlist.StatusFault("dnp3", what, status)
			}
		}
	}
	if err != nil {
		return err
	}
	outcome := "the outstation answers SUCCESS"
	if o.noAnswer {
		outcome = "sent; no answer was asked for"
	}
	cmd.Printf("%s: %s\n", what, outcome)
	return nil
}

func (o *dnp3Operate) request(c master.Command) *master.Request {
	switch {
	case o.direct:
		return master.Operate(c)
	case o.noAnswer:
		return master.OperateUnanswered(c)
	}
	return master.SelectOperate(c)
}

// confirmed asks a person whether to do something, unless yes is set.
func confirmed(cmd *cobra.Command, yes bool, what string) error {
	if yes {
		return nil
	}
	cmd.PrintErrf("%s? Write yes: ", what)
	answer, _ := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	if strings.TrimSpace(answer) != "yes" {
		return fault.E("dnp3", fault.Canceled, "", errors.New("nothing was operated; write yes, or give --yes"))
	}
	return nil
}

// The operations and sizes that can be written.
func operationNames() map[string]object.ControlCode {
	return map[string]object.ControlCode{
		"latch_on": object.OpLatchOn, "latch_off": object.OpLatchOff, "pulse_on": object.OpPulseOn, "pulse_off": object.OpPulseOff,
		"close": object.OpPulseOn | object.OpClose, "trip": object.OpPulseOn | object.OpTrip,
	}
}

func (o *dnp3Operate) command(args []string) (master.Command, error) {
	index, err := strconv.ParseUint(args[1], 10, 16)
	if err != nil {
		return master.Command{}, fmt.Errorf("%q is no index; write a number from 0 to 65535", args[1])
	}
	switch args[0] {
	case "binary":
		code, known := operationNames()[args[2]]
		if !known {
			return master.Command{}, fmt.Errorf("%q is no operation; write %s", args[2],
				strings.Join(slices.Sorted(maps.Keys(operationNames())), ", "))
		}
		block := object.CROB{Code: code, Count: o.count}
		if op := code.Operation(); op == object.OpPulseOn || op == object.OpPulseOff {
			block.OnTime, block.OffTime = o.on, o.off
		}
		return master.Command{Variation: object.G12V1, Index: uint32(index), CROB: block}, nil
	case "analog":
		return o.analog(uint32(index), args[2])
	}
	return master.Command{}, fmt.Errorf("%q cannot be operated; write binary or analog", args[0])
}

func (o *dnp3Operate) analog(index uint32, text string) (master.Command, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return master.Command{}, fmt.Errorf("%q is no number", text)
	}
	c := master.Command{Index: index, Value: object.Float(x)}
	limit := math.MaxFloat64
	switch o.size {
	case "int32":
		c.Variation, limit = object.G41V1, math.MaxInt32
	case "int16":
		c.Variation, limit = object.G41V2, math.MaxInt16
	case "float":
		c.Variation, limit = object.G41V3, math.MaxFloat32
	case "double":
		c.Variation = object.G41V4
	default:
		return c, fmt.Errorf("--size %q is not known; write int16, int32, float or double", o.size)
	}
	if math.Abs(x) > limit {
		return c, fmt.Errorf("%v does not fit into %s", x, o.size)
	}
	return c, nil
}
