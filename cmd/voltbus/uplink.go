package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/answer"
	"voltbus/internal/plural"
)

// showUplink shows how blocks go up, in words and a table of origins.
func showUplink(cmd *cobra.Command, u *answer.Uplink) {
	if u == nil {
		return
	}
	line := u.State
	if u.State == "connected" {
		line += fmt.Sprintf(", %.1f ms away, its clock %+.1f ms", u.RTTMS, u.OffsetMS)
	} else if u.Reason != "" {
		line += ": " + plain(u.Reason)
	}
	cmd.Printf("%-16s %s\n", "connection", line)
	cmd.Printf("%-16s %s\n", "waiting", plural.Of(u.Waiting, "block"))
	for _, l := range u.Lanes {
		text := fmt.Sprintf("%s sent, %s under way", plural.Of(l.Sent, "octet"), plural.Of(l.Frames, "frame"))
		if l.Oldest != nil {
			text += ", the oldest from " + l.Oldest.Local().Format(time.DateTime)
		}
		cmd.Printf("%-16s %s\n", l.Name+" lane", text)
	}
	showLive(u.Live, func(name, text string) { cmd.Printf("%-16s %s\n", name, plain(text)) })
	for i := range u.Origins {
		o := &u.Origins[i]
		cmd.Printf("%-16s parent has %s; since the start %d sent, %d left out, %d sent once more, %d lost to the log's bound or damage\n",
			plain(o.Origin), plural.Of(o.Samples, "sample"), o.Sent, o.Left, o.Repeated, o.Dropped)
		if o.Reason != "" {
			cmd.Printf("%-16s waits: %s\n", "", plain(o.Reason))
		}
	}
}

// showLive shows how live messages go over a link.
func showLive(l *answer.LiveLink, line func(name, text string)) {
	if l == nil || (!l.Connected && l.Up.Messages+l.Down.Messages+l.Refused == 0) {
		return
	}
	for _, way := range []struct {
		name string
		flow *answer.LiveFlow
	}{{"live up", &l.Up}, {"live down", &l.Down}} {
		f := way.flow
		text := "nobody listens"
		if f.Wanted > 0 {
			text = fmt.Sprintf("%s wanted: %s", plural.Of(f.Wanted, "subject"), strings.Join(f.Subjects[:min(len(f.Subjects), 3)], ", "))
			if f.Wanted > 3 {
				text += ", …"
			}
		}
		if f.Messages+f.Dropped > 0 {
			text += fmt.Sprintf("; %s, %s, %d dropped", plural.Of(f.Messages, "message"), plural.Of(f.Octets, "octet"), f.Dropped)
		}
		line(way.name, text)
	}
	if l.Refused > 0 {
		line("live refused", fmt.Sprintf("%s; the last: %s", plural.Of(l.Refused, "message"), l.Reason))
	}
}
