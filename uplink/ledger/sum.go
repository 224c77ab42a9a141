package ledger

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/api/answer"
)

// origin is the account of an origin in the subtree.
type origin struct {
	home    string // the node it belongs to; "" for one that is not in the subtree
	samples uint64 // acknowledged there, if known
	refused uint64
	here    answer.Origin // at the top
	stored  uint64
}

// origins collects what is known about each origin: at its home, and at the top, which is the first node.
func origins(nodes []answer.LedgerNode) map[string]*origin {
	all := map[string]*origin{}
	of := func(name string) *origin {
		if all[name] == nil {
			all[name] = &origin{}
		}
		return all[name]
	}
	for i := range nodes {
		n := &nodes[i]
		for k := range n.Origins {
			h := &n.Origins[k]
			o := of(h.Origin.Origin)
			if h.Own {
				o.home, o.samples, o.refused = n.Node, h.Acknowledged, h.Refused
			}
			if i > 0 {
				continue
			}
			o.here, o.stored = h.Origin, h.Stored
			if !n.Stores {
				o.stored = h.Acknowledged - min(h.Acknowledged, h.Missing+h.Left)
			}
		}
	}
	for _, o := range all {
		o.samples = max(o.samples, o.stored+o.here.Missing+o.here.Left) // the home reported earlier
	}
	return all
}

// sum sums up the subtree.
func sum(nodes []answer.LedgerNode) answer.LedgerSum {
	out := answer.LedgerSum{Nodes: len(nodes), Overwritten: nodes[0].Overwritten}
	for i := range nodes {
		if s := nodes[i].State; s == "old" || s == "silent" {
			out.Old++
		}
	}
	for _, o := range origins(nodes) {
		out.Origins++
		out.Samples += o.samples
		out.Stored += o.stored
		out.Left += o.here.Left
		out.Missing += o.here.Missing
		out.Repeated += o.here.Repeated
		out.Refused += o.refused
		out.Waiting += o.samples - (o.stored + o.here.Missing + o.here.Left)
	}
	return out
}

// sentence describes whether anything was lost, and what.
func sentence(nodes []answer.LedgerNode, s *answer.LedgerSum) string {
	var b strings.Builder
	whole := count(s.Samples, "sample") + " of " + count(uint64(s.Nodes), "node")
	switch {
	case s.Missing == 0 && s.Overwritten == 0:
		b.WriteString("Nothing was lost of " + whole + ".")
	case s.Missing == 0:
		b.WriteString("Nothing is missing of " + whole + ".")
	default:
		fmt.Fprintf(&b, "%s of %s: %s.", missingOf(s.Missing), whole, losses(nodes))
	}
	if s.Overwritten > 0 {
		fmt.Fprintf(&b, " %s overwritten by another value with the same point and time.", are(s.Overwritten, "was", "were"))
	}
	if s.Waiting > 0 {
		fmt.Fprintf(&b, " %s still on the way.", are(s.Waiting, "is", "are"))
	}
	if s.Left > 0 {
		fmt.Fprintf(&b, " %s left out on the way, because nobody selected them or a rule withheld them.", are(s.Left, "was", "were"))
	}
	if s.Refused > 0 {
		fmt.Fprintf(&b, " %s refused before anybody was told they were kept.", are(s.Refused, "was", "were"))
	}
	if list := unbalanced(nodes); list != "" {
		b.WriteString(" The account does not add up at " + list + ".")
	}
	if old := olds(nodes); old != "" {
		b.WriteString(" " + old)
	}
	return b.String()
}

func missingOf(n uint64) string { return are(n, "is", "are") + " missing" }

// losses describes the origins with missing samples, and why.
func losses(nodes []answer.LedgerNode) string {
	all := origins(nodes)
	why := map[string]map[string]bool{}
	for i := range nodes[0].Gaps {
		g := &nodes[0].Gaps[i]
		if why[g.Origin] == nil {
			why[g.Origin] = map[string]bool{}
		}
		why[g.Origin][reason(g.Reason)] = true
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if o := all[name]; o.here.Missing > 0 {
			text := grouped(o.here.Missing) + " of " + name
			if w := slices.Sorted(maps.Keys(why[name])); len(w) > 0 {
				text += ", " + strings.Join(w, " and ")
			}
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "; ")
}

func reason(word string) string {
	switch word {
	case "dropped":
		return "dropped by the bound of a log"
	case "corrupt":
		return "damaged on a disk"
	}
	return "why is " + word
}

// unbalanced lists where an origin does not add up.
func unbalanced(nodes []answer.LedgerNode) string {
	var list []string
	for i := range nodes {
		for k := range nodes[i].Origins {
			if !nodes[i].Origins[k].Balanced {
				list = append(list, nodes[i].Node+" for "+nodes[i].Origins[k].Origin.Origin)
			}
		}
	}
	return strings.Join(list, ", ")
}

// olds describes nodes whose reports are old.
func olds(nodes []answer.LedgerNode) string {
	var old, silent []string
	for i := range nodes {
		switch n := &nodes[i]; n.State {
		case "old":
			old = append(old, n.Node+" ("+n.AsOf.UTC().Format(time.RFC3339)+")")
		case "silent":
			silent = append(silent, n.Node)
		}
	}
	var parts []string
	switch {
	case len(old) == 1:
		parts = append(parts, old[0]+" does not answer and is counted as it said then.")
	case len(old) > 1:
		parts = append(parts, shortened(old)+" do not answer and are counted as they said then.")
	}
	if len(silent) > 0 {
		parts = append(parts, "Nothing is known of "+shortened(silent)+" yet.")
	}
	return strings.Join(parts, " ")
}

// named is the maximum number of nodes that a sentence names.
const named = 5

func shortened(list []string) string {
	if len(list) <= named {
		return strings.Join(list, ", ")
	}
	return strings.Join(list[:named], ", ") + " and " + strconv.Itoa(len(list)-named) + " more"
}

// are formats a number of samples with the verb for one or many.
func are(n uint64, one, many string) string {
	verb := many
	if n == 1 {
		verb = one
	}
	return count(n, "sample") + " " + verb
}

func count(n uint64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return grouped(n) + " " + thing
}

// grouped formats a number with commas.
func grouped(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
