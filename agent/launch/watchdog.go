package launch

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"voltbus/agent/jail"
	"voltbus/fault"
)

// beatEvery is how often a watchdog is told until when which agents may run.
const beatEvery = 200 * time.Millisecond

// confirmTime is how long the watchdog is waited for.
const confirmTime = 10 * time.Second

var errNoWatchdog = errors.New("the watchdog, which ends the agent when another replica may run it, does not answer")

// Watchdog has a process of its own end the agents when the right to run them has ended, since this one may be stopped then.
type Watchdog struct {
	through []string
	watched func() []jail.Watched
	log     *slog.Logger
	asks    chan chan<- struct{} // closed when the process knows all that run
}

// NewWatchdog returns a watchdog; its process is started through the same command as agents are. It is told again and again what watched
// returns. It starts nothing.
func NewWatchdog(through []string, watched func() []jail.Watched, log *slog.Logger) *Watchdog {
	return &Watchdog{through: through, watched: watched, log: log, asks: make(chan chan<- struct{})}
}

// Confirm returns nil when the process has been told of all that is watched now. The error is fault.Unavailable.
func (w *Watchdog) Confirm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, confirmTime)
	defer cancel()
	known := make(chan struct{})
	asks := w.asks
	for {
		select {
		case asks <- known:
			asks = nil
		case <-known:
			return nil
		case <-ctx.Done():
			return fault.E("agent.start", fault.Unavailable, "", errNoWatchdog)
		}
	}
}

// Run runs the process until ctx ends; one that ends is started again.
func (w *Watchdog) Run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := w.watch(ctx); err != nil && ctx.Err() == nil {
			w.log.WarnContext(ctx, "the watchdog of the agents has ended, and is started again", slog.Any("err", err))
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// watch runs the process until ctx ends, or the process does.
func (w *Watchdog) watch(ctx context.Context) error {
	cmd, err := Command(w.through, &jail.Spec{Watch: true}, nil)
	if err != nil {
		return err
	}
	to, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	from, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	err = w.tell(ctx, to, bufio.NewReader(from))
	return errors.Join(err, to.Close(), cmd.Wait())
}

// tell tells the process again and again, until ctx ends.
func (w *Watchdog) tell(ctx context.Context, to io.Writer, answers *bufio.Reader) error {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		var ask chan<- struct{}
		select {
		case <-ctx.Done():
		case ask = <-w.asks:
		case <-tick.C:
		}
		if _, err := io.WriteString(to, jail.Line(w.watched())); err != nil {
			return err
		}
		if _, err := answers.ReadString('\n'); err != nil {
			return err
		}
		if ask != nil {
			close(ask)
		}
	}
	return nil
}
