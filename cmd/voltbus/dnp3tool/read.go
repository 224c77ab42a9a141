package dnp3tool

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/driver/dnp3/field"
	"voltbus/driver/dnp3/pointlist"
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/explain"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
)

const readHelp = `Read an outstation once: its present values, or what is named.

  class0 class1 class2 class3   classes; events that are read leave the outstation
  integrity                     all of them
  analog_input                  all points of a type: binary_input, double_bit_input,
                                binary_output, counter, frozen_counter, analog_input,
                                frozen_analog, analog_output, octet_string
  analog_input:0-9              points of a type by their index
  g30v5  g30v5:3                objects of a variation; v0 leaves it to the outstation
  attributes                    what the device is (group 0)`

func newDNP3Read() *cobra.Command {
	var d Flags
	var out shell.Format
	cmd := &cobra.Command{
		Use: "read [what]...", Short: "Read classes, types, ranges or objects of an outstation", Long: readHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			requests, err := readRequests(args)
			if err != nil {
				return err
			}
			return d.read(cmd, requests, &out)
		},
	}
	d.register(cmd)
	out.Register(cmd)
	return cmd
}

// readRequests returns the requests for what to read.
func readRequests(args []string) ([]*master.Request, error) {
	if len(args) == 0 {
		args = []string{"class0"}
	}
	var requests []*master.Request
	for _, arg := range args {
		r, err := readRequest(arg)
		if err != nil {
			return nil, shell.Usage(fmt.Errorf("%q %w; see voltbus dnp3 read --help", arg, err))
		}
		requests = append(requests, r)
	}
	return requests, nil
}

var errWhat = errors.New("is nothing to read; write such as class0, analog_input:0-9 or g30v5")

func readRequest(arg string) (*master.Request, error) {
	switch arg {
	case "class0":
		return master.ReadClasses(app.Class0), nil
	case "class1":
		return master.ReadClasses(app.Class1), nil
	case "class2":
		return master.ReadClasses(app.Class2), nil
	case "class3":
		return master.ReadClasses(app.Class3), nil
	case "integrity":
		return master.ReadClasses(app.Integrity), nil
	case "attributes":
		return master.ReadRange(object.G0V254, 0, 0), nil
	}
	o, err := namedObjects(arg)
	if err != nil || !o.ranged {
		return master.ReadAll(o.variation), err
	}
	return master.ReadRange(o.variation, o.start, o.stop), nil
}

// objects selects objects of a variation: all, or a range of indexes.
type objects struct {
	variation   object.Variation
	ranged      bool
	start, stop uint32
}

// namedObjects parses a type or variation, and the range of indexes after a colon.
func namedObjects(arg string) (o objects, err error) {
	name, indexes, ranged := strings.Cut(arg, ":")
	v, ok := variationOf(name)
	if !ok {
		return o, errWhat
	}
	o = objects{variation: v, ranged: ranged}
	if ranged {
		o.start, o.stop, err = indexRange(indexes)
	}
	return o, err
}

func (o objects) write(w *app.Writer) error {
	if o.ranged {
		return w.Range(o.variation, o.start, o.stop)
	}
	return w.All(o.variation)
}

// variationOf parses g30v5, or the name of a type.
func variationOf(name string) (object.Variation, bool) {
	if kind, ok := pointlist.ParseType(name); ok {
		for v := range object.Variations() {
			if v.Kind() == kind && !v.Event() {
				return object.Of(v.Group(), 0), true
			}
		}
	}
	var group, number uint8
	if n, err := fmt.Sscanf(name, "g%dv%d", &group, &number); n != 2 || err != nil || fmt.Sprintf("g%dv%d", group, number) != name {
		return 0, false
	}
	v := object.Of(group, number)
	return v, v.Known()
}

// indexRange parses 3 or 0-9.
func indexRange(text string) (start, stop uint32, err error) {
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		last = first
	}
	a, errA := strconv.ParseUint(first, 10, 16)
	b, errB := strconv.ParseUint(last, 10, 16)
	if errA != nil || errB != nil || b < a {
		return 0, 0, errors.New("has no range of indexes; write such as :3 or :0-9, the smaller first")
	}
	return uint32(a), uint32(b), nil
}

func (d *Flags) read(cmd *cobra.Command, requests []*master.Request, out *shell.Format) error {
	values, iin, err := d.Collect(cmd.Context(), requests)
	if err != nil {
		return err
	}
	if text := iin.String(); iin != 0 {
		cmd.PrintErrf("the outstation says: %s\n", text)
	}
	return readingsTo(out, cmd, values)
}

// readingsTo prints values from an outstation.
func readingsTo(f *shell.Format, cmd *cobra.Command, values []Reading) error {
	rows, err := f.Open(cmd.OutOrStdout(), "type", "index", "value", "flags", "time", "variation")
	if err != nil {
		return err
	}
	for _, r := range values {
		if err := rows.Row(r.cells()...); err != nil {
			return err
		}
	}
	return rows.End()
}

// maxReadings bounds what one read keeps.
const maxReadings = 1_000_000

// Collect makes requests one after another and returns the received values.
func (d *Flags) Collect(ctx context.Context, requests []*master.Request) ([]Reading, app.IIN, error) {
	c, err := d.Config()
	if err != nil {
		return nil, 0, err
	}
	var values []Reading
	f, err := field.Open(ctx, c, c.ReadOnlyMaster(), &Readings{Take: func(r Reading) {
		if len(values) < maxReadings {
			values = append(values, r)
		}
	}}, nil)
	if err != nil {
		return nil, 0, err
	}
	var iin app.IIN
	for _, request := range requests {
		result, failed := f.Ask(ctx, request)
		if iin |= result.IIN; failed != nil {
			err = failed
			break
		}
	}
	f.Close() // values is then no longer modified
	return values, iin, err
}

// cells returns the cells of a row for the reading.
func (r Reading) cells() []any {
	kind := r.Variation.Kind()
	name := pointlist.TypeName(kind)
	if name == "" {
		name = kind.String()
	}
	if r.text != "" {
		return []any{name, r.Point.Index, r.text, "", "", r.Variation.String()}
	}
	var value any
	switch v := r.Point.Value; v.Kind() {
	case object.BoolValue:
		value = v.Bool()
	case object.DoubleBitValue:
		value = v.DoubleBit().String()
	case object.UnsignedValue:
		value = v.Uint()
	case object.SignedValue:
		value = v.Int()
	default:
		value = v.String() // JSON has no NaN
		if x := v.Float(); x == x && x-x == 0 {
			value = x
		}
	}
	at := ""
	if t, ok := r.Point.Time.Time(); ok {
		at = t.Format("2006-01-02T15:04:05.000Z")
	}
	return []any{name, r.Point.Index, value, explain.Flags(kind, r.Point.Flags), at, r.Variation.String()}
}
