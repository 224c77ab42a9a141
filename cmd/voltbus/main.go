// Command voltbus collects data from devices, keeps it durably and shows it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"voltbus/cmd/voltbus/commands"
	"voltbus/cmd/voltbus/shell"
	"voltbus/fault"
	"voltbus/internal/memory"
)

// Exit codes, as "voltbus help exit-codes" lists them.
const (
	exitError       = 1
	exitUsage       = 2
	exitUnreachable = 3
	exitRefused     = 4
	exitNotFound    = 5
	exitDiffers     = 6
	exitWaiting     = 7
)

func main() {
	memory.Tune()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	root := newRoot()
	root.SetArgs(shell.Shielded(root, os.Args[1:]))
	if err := root.ExecuteContext(ctx); err != nil && (ctx.Err() == nil || errors.Is(err, shell.ErrInterrupted)) {
		fmt.Fprintln(os.Stderr, "voltbus: "+err.Error())
		os.Exit(exitCode(err)) //nolint:gocritic // nothing is left to be released
	}
}

func exitCode(err error) int {
	if strings.HasPrefix(err.Error(), "unknown command") {
		return exitUsage
	}
	if errors.Is(err, commands.ErrDiffers) {
		return exitDiffers
	}
	if errors.Is(err, commands.ErrStands) {
		return exitRefused
	}
	if errors.Is(err, commands.ErrWaiting) {
		return exitWaiting
	}
	switch fault.KindOf(err) {
	case fault.Invalid:
		return exitUsage
	case fault.Unreachable, fault.Timeout, fault.Unavailable:
		return exitUnreachable
	case fault.Refused:
		return exitRefused
	case fault.NotFound:
		return exitNotFound
	case fault.Internal, fault.Conflict, fault.Corrupt, fault.Rejected, fault.Canceled:
	}
	return exitError
}
