// Package fieldtool lists the tools that work without a node: commands that speak with devices themselves, or read files of signals.
package fieldtool

import (
	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/bacnettool"
	"voltbus/cmd/voltbus/dnp3tool"
	"voltbus/cmd/voltbus/modbustool"
	"voltbus/cmd/voltbus/opcuatool"
	"voltbus/cmd/voltbus/regulationtool"
	"voltbus/cmd/voltbus/shell"
)

// Commands returns the tools in the order of their names.
func Commands(f *shell.Flags) []*cobra.Command {
	return []*cobra.Command{bacnettool.NewBACnet(f), dnp3tool.NewDNP3(f), modbustool.NewModbus(), opcuatool.NewOPCUA(), regulationtool.New()}
}
