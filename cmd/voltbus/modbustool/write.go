package modbustool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/driver/modbus"
	"voltbus/fault"
)

const modbusWriteHelp = `Write a value to a coil or to holding registers, read it back, and show both. The node is not asked:
a point that a node commands is commanded with voltbus set, which keeps the order of priorities.`

func newModbusWrite() *cobra.Command {
	var m modbusFlags
	var typeName, order string
	cmd := &cobra.Command{
		Use: "write <area> <value>", Short: "Write a value to a coil or holding registers", Long: modbusWriteHelp, Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, words, err := toWrite(args[0], args[1], typeName, order)
			if err != nil {
				return shell.Usage(err)
			}
			return m.with(cmd, func(ctx context.Context, p *modbus.Probe) error {
				got, err := p.Write(ctx, uint8(m.unit), a, words)
				if err != nil {
					return err
				}
				cmd.Printf("%s: wrote %s, reads %s\n", a, rawWords(a, words), rawWords(a, got))
				if !slices.Equal(got, words) {
					return fault.E("modbus", fault.Rejected, a.String(), errors.New("the device took another value: it may bound it, or set it itself"))
				}
				return nil
			})
		},
	}
	m.register(cmd)
	cmd.Flags().StringVar(&typeName, "type", "uint16", "type of the value: "+strings.Join(modbus.Types(), ", ")+", string[n]")
	cmd.Flags().StringVar(&order, "byte-order", "ABCD", "order of the bytes: "+strings.Join(modbus.Orders(), ", "))
	return shell.TakesNegatives(cmd)
}

// toWrite converts a value to words, and returns the area that they occupy.
func toWrite(area, value, typeName, order string) (modbus.Area, []uint16, error) {
	a, err := modbus.ParseArea(area)
	switch {
	case err != nil:
		return a, nil, err
	case a.Table == "input" || a.Table == "discrete":
		return a, nil, fmt.Errorf("%s cannot be written; write to holding or coil", a.Table)
	case a.Count != 1:
		return a, nil, fmt.Errorf("%q is several; write the first number, such as %s:%d: the type says how many follow", area, a.Table, a.First)
	}
	if a.IsBits() {
		typeName = "bool"
		if on := map[string]string{"on": "true", "off": "false"}[strings.ToLower(value)]; on != "" {
			value = on
		}
	}
	words, err := modbus.Encode(typeName, order, value)
	if err != nil {
		return a, nil, fmt.Errorf("%q: %w", value, err)
	}
	a.Count = uint16(len(words))
	return a, words, nil
}

func rawWords(a modbus.Area, words []uint16) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = rawWord(a, w)
	}
	return strings.Join(texts, " ")
}
