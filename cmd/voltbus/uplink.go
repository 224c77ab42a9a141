package main

import (
	"fmt"
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
	for i := range u.Origins {
		o := &u.Origins[i]
		cmd.Printf("%-16s parent has %s; since the start %d sent, %d left out, %d sent once more, %d lost to the log's bound or damage\n",
			plain(o.Origin), plural.Of(o.Samples, "sample"), o.Sent, o.Left, o.Repeated, o.Dropped)
		if o.Reason != "" {
			cmd.Printf("%-16s waits: %s\n", "", plain(o.Reason))
		}
	}
}
