package dnp3pairs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/station"
)

// Words of the second process: a line with nothing asks for its processor time, a line
// with eventsLine makes a fleet's outstations report.
const eventsLine = "events"

// Serve is the second process: it makes outstations, prints where they listen, a line for
// each pair or one for a fleet, and answers each line of in with its processor time in
// nanoseconds, until in ends.
func Serve(ctx context.Context, o Options, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	b := newBed(ctx, o.Workers)
	defer b.running.Wait()
	defer cancel()
	sources, err := b.serve(ctx, o, out)
	if err != nil {
		return err
	}
	if !o.Fleet {
		update(sources) // kept until the masters enable reports
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if lines.Text() == eventsLine {
			update(sources)
		}
		if _, err := fmt.Fprintln(out, int64(used())); err != nil {
			return err
		}
	}
	return lines.Err()
}

func update(sources []*source) {
	for _, s := range sources {
		s.update()
	}
}

// serve makes outstations: each on a port of its own, or a fleet with addresses of their
// own on one.
func (b *bed) serve(ctx context.Context, o Options, out io.Writer) ([]*source, error) {
	sources := make([]*source, o.Sessions)
	var fleet []*station.Port
	for i, c := 0, database(); i < o.Sessions; i++ {
		address := outstationAddress
		if o.Fleet {
			address += link.Address(i)
		}
		var err error
		if sources[i], err = newSource(c, address, i, o.Values, !o.Fleet); err != nil {
			return nil, err
		}
		if fleet = append(fleet, sources[i].port); o.Fleet && i+1 < o.Sessions {
			continue
		}
		where, err := b.listen(ctx, fleet...)
		if err != nil {
			return nil, err
		}
		if _, err := fmt.Fprintln(out, where); err != nil {
			return nil, err
		}
		fleet = nil
	}
	return sources, nil
}

// other is a running second process.
type other struct {
	in    io.Writer
	lines *bufio.Scanner
}

// spawn starts the second process, which ends with ctx.
func (b *bed) spawn(ctx context.Context, cmd *exec.Cmd) (*other, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	b.running.Go(func() {
		<-ctx.Done()
		_ = in.Close()
		_ = cmd.Wait()
	})
	return &other{in: in, lines: bufio.NewScanner(out)}, nil
}

// addresses reads where outstations listen.
func (o *other) addresses(n int) ([]string, error) {
	var all []string
	for len(all) < n && o.lines.Scan() {
		all = append(all, o.lines.Text())
	}
	if len(all) < n {
		return nil, fmt.Errorf("the second process ended early: %w", errors.Join(o.lines.Err(), io.ErrUnexpectedEOF))
	}
	return all, nil
}

// cpu asks for the processor time of the second process.
func (o *other) cpu() time.Duration { return o.ask("") }

func (o *other) ask(line string) time.Duration {
	if _, err := fmt.Fprintln(o.in, line); err != nil || !o.lines.Scan() {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(o.lines.Text()), 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(n)
}
