package modbustool

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/driver/modbus"
	"voltbus/fault"
)

const modbusScanHelp = `Without an area: ask each unit of --units for a register, and list those that answer, with
data or with a refusal. With an area, such as holding:0-999: find the runs of it that the unit gives. An area takes
about two requests for each end of a run, so that a thousand registers take seconds on TCP.`

// mostRequests bounds a scan of an area: a device with only every second register would take more.
const mostRequests = 5000

type modbusScan struct {
	modbusFlags
	units string
	out   shell.Format
	asked int
}

func newModbusScan() *cobra.Command {
	var s modbusScan
	cmd := &cobra.Command{
		Use: "scan [area]...", Short: "Find units on a line, or the registers that a unit has", Long: modbusScanHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return s.findUnits(cmd)
			}
			areas, err := areasOf(args)
			if err != nil {
				return err
			}
			return s.findRuns(cmd, areas)
		},
	}
	s.register(cmd)
	cmd.Flags().StringVar(&s.units, "units", "", "units to ask, such as 1-20; just --unit if left out")
	s.out.Register(cmd)
	return cmd
}

// unitRange parses --units.
func (s *modbusScan) unitRange() (first, last int, err error) {
	if s.units == "" {
		return s.unit, s.unit, nil
	}
	from, to, isRange := strings.Cut(s.units, "-")
	if !isRange {
		to = from
	}
	first, err1 := strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	if err1 != nil || err2 != nil || first < 0 || last > 255 || last < first {
		return 0, 0, shell.Usage(fmt.Errorf("--units %q is no range; write such as 1-20, from 0 to 255", s.units))
	}
	return first, last, nil
}

func (s *modbusScan) findUnits(cmd *cobra.Command) error {
	first, last, err := s.unitRange()
	if err != nil {
		return err
	}
	var found [][]any
	for unit := first; unit <= last; unit++ {
		// One connection each: after silence a line is not trusted, and some gateways close it.
		err := s.with(cmd, func(ctx context.Context, p *modbus.Probe) error {
			row, err := s.askUnit(ctx, p, unit)
			if row != nil {
				found = append(found, row)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if len(found) == 0 {
		return fault.E("modbus", fault.NotFound, "", fmt.Errorf(
			"no unit from %d to %d answers; check the wiring and the serial settings, or raise --timeout", first, last))
	}
	rows, err := s.out.Open(cmd.OutOrStdout(), "unit", "holding:0", "input:0", "coil:0", "discrete:0")
	if err != nil {
		return err
	}
	for _, r := range found {
		if err := rows.Row(r...); err != nil {
			return err
		}
	}
	return rows.End()
}

// askUnit reads the first address of each table from a unit; nil if it is silent.
func (s *modbusScan) askUnit(ctx context.Context, p *modbus.Probe, unit int) ([]any, error) {
	row := []any{unit}
	for _, table := range []string{"holding", "input", "coil", "discrete"} {
		a := modbus.Area{Table: table, Count: 1}
		words, err := p.Read(ctx, uint8(unit), a)
		switch {
		case err == nil:
			row = append(row, rawWord(a, words[0]))
		case modbus.IsAnswer(err):
			row = append(row, modbus.Exception(err))
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case len(row) > 1:
			row = append(row, "silent")
		default:
			return nil, nil
		}
	}
	return row, nil
}

func (s *modbusScan) findRuns(cmd *cobra.Command, areas []modbus.Area) error {
	return s.with(cmd, func(ctx context.Context, p *modbus.Probe) error {
		rows, err := s.out.Open(cmd.OutOrStdout(), "area", "registers")
		if err != nil {
			return err
		}
		for _, a := range areas {
			runs, err := s.runs(ctx, p, a)
			if err != nil {
				return err
			}
			for _, r := range runs {
				if err := rows.Row(r.String(), int(r.Count)); err != nil {
					return err
				}
			}
		}
		return rows.End()
	})
}

// runs returns the readable parts of an area, adjacent ones joined: it halves refused ranges.
func (s *modbusScan) runs(ctx context.Context, p *modbus.Probe, a modbus.Area) ([]modbus.Area, error) {
	if most := uint16(64); a.Count > most {
		return s.both(ctx, p, a, most)
	}
	if s.asked++; s.asked > mostRequests {
		return nil, shell.Usage(fmt.Errorf("the unit answers in pieces: %d requests were sent; scan a smaller area", mostRequests))
	}
	_, err := p.Read(ctx, uint8(s.unit), a)
	switch {
	case err == nil:
		return []modbus.Area{a}, nil
	case !modbus.IsAnswer(err):
		return nil, err
	case a.Count == 1, errors.Is(ctx.Err(), context.Canceled):
		return nil, ctx.Err()
	}
	return s.both(ctx, p, a, a.Count/2)
}

// both returns the runs of the first registers of an area and of the others.
func (s *modbusScan) both(ctx context.Context, p *modbus.Probe, a modbus.Area, first uint16) ([]modbus.Area, error) {
	var out []modbus.Area
	for begin := uint16(0); begin < a.Count; begin += first {
		part := modbus.Area{Table: a.Table, First: a.First + begin, Count: min(first, a.Count-begin)}
		runs, err := s.runs(ctx, p, part)
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			if last := len(out) - 1; last >= 0 && out[last].First+out[last].Count == r.First {
				out[last].Count += r.Count
				continue
			}
			out = append(out, r)
		}
		if int(begin)+int(first) > 65535 {
			break
		}
	}
	return out, nil
}
