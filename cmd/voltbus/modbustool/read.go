package modbustool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/driver/modbus"
	"voltbus/point"
)

const modbusReadHelp = `Read registers or bits once. Each register is shown as its raw word, and as the value that begins
there in each type and byte order: find the column that makes sense, and write its type and byte order into the
registry. --type chooses the types; string[8] and string[8,latin1] are texts.`

// shownTypes are the types that fit into a table.
func shownTypes() []string { return []string{"uint16", "int16", "float32"} }

func newModbusRead() *cobra.Command {
	var m modbusFlags
	var types []string
	var out shell.Format
	cmd := &cobra.Command{
		Use: "read <area>...", Short: "Read registers, and show them in each type and byte order", Long: modbusReadHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			areas, err := areasOf(args)
			if err != nil {
				return err
			}
			return m.with(cmd, func(ctx context.Context, p *modbus.Probe) error {
				for _, a := range areas {
					words, err := readArea(ctx, p, m.unit, a)
					if err == nil {
						err = showWords(cmd, &out, a, words, types)
					}
					if err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	m.register(cmd)
	cmd.Flags().Var(newTypeList(&types, shownTypes()), "type", "types to show: "+strings.Join(modbus.Types(), ", ")+", string[n], string[n,latin1]")
	out.Register(cmd)
	return cmd
}

// showWords prints a row for each register or bit.
func showWords(cmd *cobra.Command, out *shell.Format, a modbus.Area, words []uint16, types []string) error {
	columns, rows := []string{"address", "raw"}, make([][]any, len(words))
	for i, w := range words {
		rows[i] = []any{fmt.Sprintf("%s:%d", a.Table, int(a.First)+i), rawWord(a, w)}
	}
	if !a.IsBits() {
		longest, err := width(types)
		if err != nil {
			return shell.Usage(err)
		}
		// Values that would extend beyond the last words are left empty.
		padded := append(slices.Clone(words), make([]uint16, longest)...)
		for i := range words {
			meanings, err := modbus.Meanings(padded[i:], types...)
			if err != nil {
				return shell.Usage(err)
			}
			for _, n := range meanings {
				if i == 0 {
					columns = append(columns, strings.TrimSpace(n.Type+" "+n.Order))
				}
				rows[i] = append(rows[i], meant(n, len(words)-i))
			}
		}
	}
	table, err := out.Open(cmd.OutOrStdout(), columns...)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if err := table.Row(r...); err != nil {
			return err
		}
	}
	return table.End()
}

func rawWord(a modbus.Area, w uint16) string {
	if a.IsBits() {
		return strconv.FormatUint(uint64(w), 10)
	}
	return fmt.Sprintf("0x%04x", w)
}

// width returns how many registers the longest of the types takes.
func width(types []string) (longest int, err error) {
	for _, name := range types {
		if _, err := modbus.Meanings(nil, name); err != nil {
			return 0, fmt.Errorf("--type: %w", err)
		}
		longest = max(longest, modbus.WordsOf(name))
	}
	return longest, nil
}

// pointsMeant returns a value for a cell; nothing if it needs more than the remaining words.
func meant(n modbus.Meaning, left int) any {
	if n.Value.Kind() == point.None || modbus.WordsOf(n.Type) > left {
		return ""
	}
	if f, _ := n.Value.Number(); n.Type == "float32" {
		return strconv.FormatFloat(f, 'g', -1, 32)
	}
	return shell.Plain(n.Value.String())
}

const modbusDecodeHelp = `Show what raw words mean as each type in each byte order, without a device: numbers from a
capture, a data sheet or another tool. Words are 16812, 0x41ac, or several in one such as 0x41ac0000.`

func newModbusDecode() *cobra.Command {
	var types []string
	var out shell.Format
	cmd := &cobra.Command{
		Use: "decode <word>...", Short: "Decode raw words in each type and byte order", Long: modbusDecodeHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			words, err := modbus.ParseWords(args)
			if err != nil {
				return shell.Usage(err)
			}
			if len(words) == 0 {
				return shell.Usage(errors.New("write the words to decode, such as 0x41ac 0x0000"))
			}
			meanings, err := modbus.Meanings(words, types...)
			if err != nil {
				return shell.Usage(fmt.Errorf("--type: %w", err))
			}
			table, err := out.Open(cmd.OutOrStdout(), "type", "order", "value")
			if err != nil {
				return err
			}
			for _, n := range meanings {
				if err := table.Row(n.Type, n.Order, meant(n, len(words))); err != nil {
					return err
				}
			}
			return table.End()
		},
	}
	cmd.Flags().Var(newTypeList(&types, nil), "type", "types to show; all if left out: "+strings.Join(modbus.Types(), ", ")+", string[n], string[n,latin1]")
	out.Register(cmd)
	return shell.TakesNegatives(cmd)
}

const modbusWatchHelp = `Read repeatedly, and print changes, with the time: turn a knob at the device and see which
register it is. The first round prints nothing, unless --all.`

func newModbusWatch() *cobra.Command {
	var m modbusFlags
	var types []string
	var every time.Duration
	var rounds int
	var all bool
	cmd := &cobra.Command{
		Use: "watch <area>...", Short: "Read repeatedly, and print changes", Long: modbusWatchHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			areas, err := areasOf(args)
			if err != nil {
				return err
			}
			if _, err := width(types); err != nil {
				return shell.Usage(err)
			}
			if every < 10*time.Millisecond {
				return shell.Usage(fmt.Errorf("--every %v is too short; write at least 10ms", every))
			}
			return m.with(cmd, func(ctx context.Context, p *modbus.Probe) error {
				w := watcher{cmd: cmd, probe: p, unit: m.unit, areas: areas, types: types, all: all}
				return w.run(ctx, every, rounds)
			})
		},
	}
	m.register(cmd)
	cmd.Flags().DurationVar(&every, "every", time.Second, "time between two rounds")
	cmd.Flags().IntVarP(&rounds, "count", "n", 0, "end after so many rounds; 0 for never")
	cmd.Flags().BoolVar(&all, "all", false, "print the first round too")
	cmd.Flags().Var(newTypeList(&types, shownTypes()), "type", "types to show: "+strings.Join(modbus.Types(), ", ")+", string[n], string[n,latin1]")
	return cmd
}

// watcher reads areas in rounds.
type watcher struct {
	cmd   *cobra.Command
	probe *modbus.Probe
	unit  int
	areas []modbus.Area
	types []string
	all   bool
	last  [][]uint16
}

func (w *watcher) run(ctx context.Context, every time.Duration, rounds int) error {
	w.last = make([][]uint16, len(w.areas))
	tick := time.NewTicker(every)
	defer tick.Stop()
	for round := 1; ; round++ {
		for i, a := range w.areas {
			words, err := readArea(ctx, w.probe, w.unit, a)
			if err != nil {
				return err
			}
			w.compare(a, w.last[i], words)
			w.last[i] = words
		}
		if round == rounds {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// compare prints the words that changed.
func (w *watcher) compare(a modbus.Area, before, now []uint16) {
	at := time.Now().Format("15:04:05.000")
	for i, word := range now {
		if (before == nil && !w.all) || (before != nil && before[i] == word) {
			continue
		}
		var line strings.Builder
		fmt.Fprintf(&line, "%s  %s:%d  %s", at, a.Table, int(a.First)+i, rawWord(a, word))
		if !a.IsBits() {
			meanings, _ := modbus.Meanings(now[i:], w.types...) // the types have been checked
			for _, n := range meanings {
				line.WriteString("  " + strings.TrimSpace(n.Type+" "+n.Order) + "=" + shell.Plain(n.Value.String()))
			}
		}
		w.cmd.Println(line.String())
	}
}
