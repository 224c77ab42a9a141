package dnp3tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/driver/dnp3/field"
	"voltbus/fault"
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/master"
)

const monitorHelp = `Be the master of an outstation and show what it says, until interrupted: its present
values, then events as they come. With --frames every frame is shown decoded, in both
directions. Events that are shown are confirmed, and leave the outstation.`

type dnp3Monitor struct {
	Flags
	frames, asJSON bool
	poll           time.Duration
	limit          int
}

func newDNP3Monitor() *cobra.Command {
	var m dnp3Monitor
	cmd := &cobra.Command{
		Use: "monitor", Short: "Show the reports of an outstation, and the frames", Long: monitorHelp, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return m.run(cmd) },
	}
	m.register(cmd)
	fs := cmd.Flags()
	fs.BoolVar(&m.frames, "frames", false, "show every frame, decoded")
	fs.BoolVar(&m.asJSON, "json", false, "print one JSON object a line")
	fs.DurationVar(&m.poll, "poll", 0, "also read everything again at this interval")
	fs.IntVarP(&m.limit, "count", "n", 0, "end after so many values")
	return cmd
}

func (m *dnp3Monitor) run(cmd *cobra.Command) error {
	if m.poll < 0 || m.limit < 0 {
		return shell.Usage(errors.New("--poll and --count must not be below zero; leave them out for no poll and no end"))
	}
	c, err := m.Config()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	p := &printer{out: cmd.OutOrStdout(), json: m.asJSON, left: m.limit, full: cancel}
	config := c.MasterConfig()
	if m.poll > 0 {
		config.Polls = []master.Poll{{Classes: app.Integrity, Interval: m.poll}}
	}
	failed := make(chan error, 1)
	config.Notify = timeouts(failed)
	var frames func(string)
	if m.frames {
		frames = p.frame
	}
	f, err := field.Open(ctx, c, config, &Readings{Take: p.value}, frames)
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-f.Lost():
			if ctx.Err() != nil { // it was closed because enough has been printed
				return nil
			}
			return field.Unreachable(c, err)
		case err := <-failed:
			if !p.any() {
				return fault.E("dnp3", fault.Timeout, c.LineName(), err)
			}
			cmd.PrintErrln(err)
		}
	}
}

// timeouts passes on that an answer did not come, unless the one before has not been taken yet.
func timeouts(failed chan<- error) func(master.Notice) {
	return func(n master.Notice) {
		if n.Err != nil && errors.Is(n.Err, master.ErrTimeout) {
			select {
			case failed <- n.Err:
			default:
			}
		}
	}
}

// printer prints values and frames, one at a time.
type printer struct {
	out  io.Writer
	json bool
	full func() // called when enough has been printed

	mu    sync.Mutex
	left  int // values to print; 0 for no limit
	count int
}

func (p *printer) any() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count > 0
}

// frame prints one line of an explained frame.
func (p *printer) frame(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.json {
		line, _ := json.Marshal(map[string]string{"frame": line})
		fmt.Fprintln(p.out, string(line))
		return
	}
	fmt.Fprintln(p.out, shell.Plain(line))
}

// value prints a value.
func (p *printer) value(r Reading) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left > 0 && p.count >= p.left {
		return
	}
	p.count++
	cells := r.cells()
	source := "present"
	if r.Variation.Event() {
		source = "event"
	}
	if r.info.Unsolicited {
		source = "unsolicited"
	}
	received := r.info.Received.UTC().Format("15:04:05.000Z")
	if p.json {
		line, _ := json.Marshal(map[string]any{
			"received": r.info.Received.UTC(), "source": source, "type": cells[0], "index": cells[1], "value": cells[2],
			"flags": cells[3], "time": cells[4], "variation": cells[5],
		})
		fmt.Fprintln(p.out, string(line))
	} else {
		fmt.Fprintln(p.out, shell.Plain(fmt.Sprintf("%s  %-11s  %s %v = %v  %v  %v", received, source, cells[0], cells[1], cells[2], cells[3], cells[4])))
	}
	if p.count == p.left {
		p.full()
	}
}
