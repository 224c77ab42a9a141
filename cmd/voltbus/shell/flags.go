package shell

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/internal/datadir"
	"voltbus/node"
)

// Flags are the flags of every subcommand.
type Flags struct {
	LogLevel  string
	LogFormat string
	Where     Target
}

// StrictArgs makes a wrong number of arguments a usage error, with advice.
func StrictArgs(cmd *cobra.Command) {
	check := cmd.Args
	if check == nil {
		return
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return wrongArgs(cmd, args, err)
		}
		return nil
	}
}

// StrictGroup makes an unknown subcommand a usage error; without one a group shows its help.
func StrictGroup(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		StrictGroup(sub)
	}
	if !cmd.HasSubCommands() || cmd.Runnable() {
		return
	}
	cmd.DisableFlagsInUseLine = true
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return Usage(fmt.Errorf("unknown command %q; see %s --help", args[0], cmd.CommandPath()))
		}
		return cmd.Help()
	}
}

// Usage marks an error as a usage error.
func Usage(err error) error { return fault.E("voltbus", fault.Invalid, "", err) }

// Logger returns the log of the program, on standard error.
func (f *Flags) Logger() (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.LogLevel)); err != nil {
		return nil, Usage(fmt.Errorf("--log-level %q is not known; write debug, info, warn or error", f.LogLevel))
	}
	opts := &slog.HandlerOptions{Level: level}
	switch strings.ToLower(f.LogFormat) {
	case "text":
		return slog.New(slog.NewTextHandler(os.Stderr, opts)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(os.Stderr, opts)), nil
	}
	return nil, Usage(fmt.Errorf("--log-format %q is not known; write text or json", f.LogFormat))
}

// ReadAddresses returns the addresses of the node running on a data directory.
func ReadAddresses(dir string) (node.Addresses, error) {
	var a node.Addresses
	if !datadir.InUse(dir) {
		return a, fault.E("voltbus", fault.Unreachable, dir, errors.New("no node runs on this data directory"))
	}
	data, err := os.ReadFile(filepath.Join(dir, node.AddressFile))
	if err != nil {
		return a, fault.E("voltbus", fault.Unreachable, dir, errors.New("the node that uses this data directory is just starting; try again"))
	}
	if err := json.Unmarshal(data, &a); err != nil {
		return a, fault.E("voltbus", fault.Corrupt, filepath.Join(dir, node.AddressFile), err)
	}
	return a, nil
}

// ErrInterrupted is the error of work that a signal ended before it was complete.
var ErrInterrupted = errors.New("interrupted; run the same command again to go on")

// release is set by the linker.
var release = "dev" //nolint:gochecknoglobals // the linker needs a variable

// Version describes this program.
func Version() answer.Version {
	v := answer.Version{Version: release, Go: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v.Commit = s.Value
			}
		}
	}
	return v
}

// Yes formats a boolean.
func Yes(b bool) string {
	if b {
		return "yes"
	}
	return "NO"
}

// PrintJSON prints a value as JSON.
func PrintJSON(cmd *cobra.Command, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("show JSON: %w", err)
	}
	cmd.Println(PlainLines(string(b)))
	return nil
}

// NodeFlag adds the flag that directs a command to another node.
func NodeFlag(cmd *cobra.Command, node *string) {
	cmd.Flags().StringVar(node, "node", "", "ask this node of the tree instead, by its name")
}

// PlainLines is Plain except that it keeps line ends.
func PlainLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = Plain(lines[i])
	}
	return strings.Join(lines, "\n")
}

// TimeText formats a time for people.
func TimeText(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Format(time.RFC3339)
}

// Terminal reports whether a file is a terminal.
func Terminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// DemoDir is the default folder of the demonstration.
const DemoDir = "voltbus-demo"
