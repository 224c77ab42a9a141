package nodes

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/cmd/voltbus/shell"
	"voltbus/internal/plural"
	nodes0 "voltbus/operation/nodes"
	"voltbus/point"
	"voltbus/uplink"
	"voltbus/wire"
)

// showUplink prints the state of the uplink, in words and a table of origins.
func showUplink(cmd *cobra.Command, u *answer.Uplink) {
	if u == nil {
		return
	}
	line := u.State
	if u.State == "connected" {
		line += fmt.Sprintf(", %.1f ms away, its clock %+.1f ms", u.RTTMS, u.OffsetMS)
	} else if u.Reason != "" {
		line += ": " + shell.Plain(u.Reason)
	}
	cmd.Printf("%-16s %s\n", "connection", line)
	cmd.Printf("%-16s %s\n", "waiting", plural.Of(u.Waiting, "block"))
	for _, l := range u.Lanes {
		text := fmt.Sprintf("%s sent, %s under way", plural.Of(l.Sent, "byte"), plural.Of(l.Frames, "frame"))
		if l.Oldest != nil {
			text += ", the oldest from " + l.Oldest.Local().Format(time.DateTime)
		}
		cmd.Printf("%-16s %s\n", l.Name+" lane", text)
	}
	showLive(u.Live, func(name, text string) { cmd.Printf("%-16s %s\n", name, shell.Plain(text)) })
	for i := range u.Origins {
		o := &u.Origins[i]
		cmd.Printf("%-16s parent has %s; since the start %d sent, %d left out, %d sent once more, %d lost to the log's bound or damage\n",
			shell.Plain(o.Origin), plural.Of(o.Samples, "sample"), o.Sent, o.Left, o.Repeated, o.Dropped)
		if o.Reason != "" {
			cmd.Printf("%-16s waits: %s\n", "", shell.Plain(o.Reason))
		}
	}
}

// showLive prints the state of live messages on a link.
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
			text += fmt.Sprintf("; %s, %s, %d dropped", plural.Of(f.Messages, "message"), plural.Of(f.Bytes, "byte"), f.Dropped)
		}
		line(way.name, text)
		for i := range f.Withheld {
			line("live withheld", withheldWords(&f.Withheld[i]))
		}
	}
	if l.Refused > 0 {
		line("live refused", fmt.Sprintf("%s; the last: %s", plural.Of(l.Refused, "message"), l.Reason))
	}
}

// withheldWords describes what live messages a child node withholds, and what would permit them.
func withheldWords(w *answer.LiveWithheld) string {
	how := "does not come"
	if w.Part {
		how = "comes in part only"
	}
	return fmt.Sprintf("%s %s: %s does not let it go up live; add %q to its uplink.allow", w.Subject, how, w.Node, w.Allow)
}

// WatchWithheld reports once each child node that withholds live values of a pattern, until ctx ends. It checks repeatedly,
// at growing intervals: a child learns what is wanted after a moment, and may connect later.
func WatchWithheld(ctx context.Context, s shell.Session, pattern string) {
	said := map[string]bool{}
	for wait := 2 * time.Second; ; wait = min(2*wait, time.Minute) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		all, err := client.Do(ctx, s.Client, nodes0.List, struct{}{})
		if err != nil {
			continue // users without access to nodes still see values
		}
		for i := range all.Nodes {
			if n := &all.Nodes[i]; n.Live != nil && n.State != answer.NodeHere {
				tellWithheld(s.PrintErrln, n.Live.Up.Withheld, point.Pattern(pattern).Prefix(), said)
			}
		}
	}
}

func tellWithheld(say func(...any), list []answer.LiveWithheld, place point.Path, said map[string]bool) {
	for i := range list {
		w := &list[i]
		at := w.Place()
		if strings.HasPrefix(w.Subject, wire.MessagePrefix) || said[w.Node] || !uplink.Below(at, place) && !uplink.Below(place, at) {
			continue
		}
		said[w.Node] = true
		say(shell.Plain(withheldWords(w)))
	}
}
