package dnp3tool

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/driver"
	"voltbus/driver/dnp3"
	"voltbus/driver/dnp3/field"
	"voltbus/fault"
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/master"
)

const scanHelp = `Ask every link address of a range for its link status, and list the outstations that
answer with the points that they show. With --registry the points of the one that is
found are written as a registry for a node's configuration, to be given names and units.`

type dnp3Scan struct {
	Flags
	addresses string
	pause     time.Duration
	registry  string
	out       shell.Format
}

func newDNP3Scan() *cobra.Command {
	var s dnp3Scan
	cmd := &cobra.Command{
		Use: "scan", Short: "Find outstations on a line, and their points", Long: scanHelp, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd) },
	}
	s.register(cmd)
	cmd.Flags().StringVar(&s.addresses, "range", "", "link addresses to ask, such as 1-20; just --outstation if left out")
	cmd.Flags().DurationVar(&s.pause, "pause", 20*time.Millisecond, "time between two addresses; a slow serial line needs more")
	cmd.Flags().StringVar(&s.registry, "registry", "", "write the points as a registry to this CSV file")
	s.out.Register(cmd)
	return cmd
}

func (s *dnp3Scan) run(cmd *cobra.Command) error {
	first, last := uint32(s.Outstation), uint32(s.Outstation)
	if s.addresses != "" {
		var err error
		if first, last, err = indexRange(s.addresses); err != nil {
			return shell.Usage(fmt.Errorf("--range %q is no range; write such as 1-20", s.addresses))
		}
	}
	c, err := s.Config()
	if err != nil {
		return err
	}
	if c.Transport == "listen" {
		return shell.Usage(errors.New("scan asks one address after the other, and an outstation that dials in answers to its own only; write its address with read or monitor: voltbus dnp3 read --listen HOST:PORT --outstation N"))
	}
	found, err := s.find(cmd.Context(), c, link.Address(first), link.Address(min(last, 65519)))
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fault.E("dnp3", fault.NotFound, c.LineName(), fmt.Errorf(
			"no outstation from %d to %d answers; check the addresses, and --master: some answer to their master only", first, last))
	}
	return s.list(cmd, found)
}

// find returns the addresses that answer.
func (s *dnp3Scan) find(ctx context.Context, c *dnp3.Config, first, last link.Address) ([]link.Address, error) {
	stream, err := c.Dialer()(ctx)
	if err != nil {
		return nil, field.Unreachable(c, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	answers := make(chan link.Address)
	ended := make(chan struct{})
	go func() { // ends when the stream is closed
		defer close(ended)
		listenForStatus(ctx, stream, link.Address(s.Master), answers)
	}()
	defer func() {
		cancel()
		_ = stream.Close()
		<-ended
	}()
	var found []link.Address
	next := int(first)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case a := <-answers:
			if !slices.Contains(found, a) {
				found = append(found, a)
			}
		case <-ended:
			return nil, field.Unreachable(c, errors.New("the connection was closed by the other side"))
		case <-timer.C:
			switch {
			case next > int(last)+1:
				slices.Sort(found)
				return found, nil
			case next == int(last)+1 || next == s.Master && next == int(last):
				timer.Reset(s.Timeout) // for the last answers
				next = int(last) + 2
			default:
				if err := askStatus(stream, link.Address(s.Master), link.Address(next)); err != nil {
					return nil, field.Unreachable(c, err)
				}
				next++
				timer.Reset(s.pause)
			}
		}
	}
}

func askStatus(w io.Writer, master, outstation link.Address) error {
	if master == outstation {
		return nil
	}
	header := link.Header{Control: link.RequestLinkStatus.With(link.DIR), Destination: outstation, Source: master}
	frame, err := link.AppendFrame(nil, header, nil)
	if err != nil {
		return err
	}
	_, err = w.Write(frame)
	return err
}

// listenForStatus reports stations that answer, or report unsolicited, until the stream ends.
func listenForStatus(ctx context.Context, r io.Reader, to link.Address, answers chan<- link.Address) {
	var parser link.Parser
	var room [link.MaxPayload]byte
	buffer := make([]byte, 0, 8192)
	for {
		n, err := r.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		at := 0
		for {
			frame, n, ok := parser.Next(buffer[at:], &room)
			if at += n; !ok {
				break
			}
			if frame.Destination != to || frame.Control.FromMaster() || !frame.Source.Individual() {
				continue
			}
			select {
			case answers <- frame.Source:
			case <-ctx.Done():
				return
			}
		}
		buffer = buffer[:copy(buffer, buffer[at:])]
		if err != nil {
			return
		}
	}
}

// list reads the points of each outstation and prints them.
func (s *dnp3Scan) list(cmd *cobra.Command, found []link.Address) error {
	rows, err := s.out.Open(cmd.OutOrStdout(), "outstation", "type", "index", "value", "flags", "variation")
	if err != nil {
		return err
	}
	for _, a := range found {
		s.Outstation = int(a)
		values, _, err := s.Collect(cmd.Context(), []*master.Request{master.ReadClasses(app.Class0)})
		if err != nil {
			cmd.PrintErrf("outstation %d answers, but cannot be read: %v\n", a, err)
			if err := rows.Row(int(a), "", nil, "", "cannot be read", ""); err != nil {
				return err
			}
			continue
		}
		for _, r := range values {
			cells := r.cells()
			if err := rows.Row(int(a), cells[0], cells[1], cells[2], cells[3], cells[5]); err != nil {
				return err
			}
		}
	}
	if err := rows.End(); err != nil || s.registry == "" {
		return err
	}
	if len(found) > 1 {
		return shell.Usage(fmt.Errorf("--registry is for one outstation, and %d were found; name one with --outstation", len(found)))
	}
	c, err := s.Config()
	if err != nil {
		return err
	}
	points, err := field.Survey(cmd.Context(), c)
	if err != nil {
		return err
	}
	return writeRegistry(s.registry, points)
}

// writeRegistry writes points as a registry.
func writeRegistry(file string, points []driver.Found) error {
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // a file for people to edit
	if err != nil {
		return fault.E("dnp3", fault.Conflict, file, fmt.Errorf("cannot be written: %w; name a file that is not there yet", err))
	}
	w := csv.NewWriter(out)
	rows := [][]string{{"name", "type", "index", "variation", "scale", "unit", "writable", "description"}}
	for _, p := range points {
		e := p.Entry
		rows = append(rows, []string{e["name"], e["type"], e["index"], e["variation"], "", "", "false", ""})
	}
	return errors.Join(w.WriteAll(rows), out.Close())
}
