package agents

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/python"
)

func newAgentSDK() *cobra.Command {
	return &cobra.Command{
		Use: "sdk [folder]", Short: "Write the Python SDK in this program as a wheel", Args: cobra.MaximumNArgs(1),
		Long: `Write the Python SDK in this program as a wheel, into a folder or the current one. Agents that
are installed have it already; it is for writing and testing them, and for programs that run elsewhere.`,
		Example: `  voltbus agent sdk
  python3 -m venv venv
  venv/bin/pip install ./voltbus-*.whl pytest`,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, wheel, err := python.Wheel()
			if err != nil {
				return err
			}
			if len(args) > 0 {
				name = filepath.Join(args[0], name)
			}
			if err := os.WriteFile(name, wheel, 0o644); err != nil { //nolint:gosec // it is for everybody
				return shell.Usage(fmt.Errorf("write the SDK: %w", err))
			}
			cmd.Printf("wrote %s\n", name)
			return nil
		},
	}
}
