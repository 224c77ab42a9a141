package bacnettool

import (
	"encoding/hex"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/protocol/bacnet/explain"
)

const explainHelp = `Say in words what a frame is: a datagram of BACnet/IP, which begins with 81, or an NPDU, which begins with 01.
Blanks, colons and 0x may stand between the digits, as capture programs copy them.`

func newExplain() *cobra.Command {
	return &cobra.Command{
		Use: "explain <hex>...", Short: "Say what a captured frame is", Long: explainHelp, Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			digits := strings.NewReplacer("0x", "", "0X", "", ":", "", " ", "", "\n", "", "\t", "", "-", "").Replace(strings.Join(args, ""))
			data, err := hex.DecodeString(digits)
			if err != nil {
				return shell.Usage(errors.New("the frame is not hexadecimal; write such as 810b000c0120ffff00ff1008"))
			}
			for _, line := range explain.Frame(data) {
				cmd.Println(shell.Plain(line))
			}
			return nil
		},
	}
}
