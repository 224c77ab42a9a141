package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"voltbus/lab/experiment"
)

// Text writes the table and the verdict for a terminal.
func Text(w io.Writer, r *experiment.Result) error {
	v := newView(r)
	fmt.Fprintf(w, "%s\n%s, %d repeats, %s, %d cores\n\n", r.Question, r.Experiment, r.Repeats, r.Machine.CPU, r.Machine.Cores)
	t := tabwriter.NewWriter(w, 2, 4, 2, ' ', 0)
	fmt.Fprintf(t, "%s, %s", r.Metric.Name, r.Metric.Unit)
	for _, s := range v.Subjects {
		fmt.Fprintf(t, "\t%s", s)
	}
	if v.HasPeer {
		fmt.Fprint(t, "\tpeer, earlier")
	}
	for i := range v.Published {
		fmt.Fprintf(t, "\tpublished %d", i+1)
	}
	fmt.Fprintln(t)
	for _, row := range v.Rows {
		fmt.Fprint(t, row.Case)
		for _, m := range row.Measured {
			fmt.Fprint(t, "\t", m)
		}
		if v.HasPeer {
			fmt.Fprint(t, "\t", row.Peer)
		}
		for _, p := range row.Published {
			fmt.Fprint(t, "\t", p)
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	if v.HasPeer {
		fmt.Fprintf(w, "\npeer: %s\n", v.PeerLabel)
	}
	for i, label := range v.Published {
		fmt.Fprintf(w, "published %d: %s\n", i+1, label)
	}
	if err := follows(w, r); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, s := range r.Verdict {
		fmt.Fprintln(w, s)
	}
	for _, s := range r.Notes {
		fmt.Fprintln(w, s)
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(w, "%s did not run: %s\n", s.Peer, s.Reason)
	}
	return nil
}

// follows writes what follows from the cases: findings and tables.
func follows(w io.Writer, r *experiment.Result) error {
	for _, f := range r.Findings {
		fmt.Fprintf(w, "\n%s: %s", f.Name, findingWords(f))
	}
	if len(r.Findings) > 0 {
		fmt.Fprintln(w)
	}
	for _, table := range r.Tables {
		fmt.Fprintf(w, "\n%s\n", table.Title)
		t := tabwriter.NewWriter(w, 2, 4, 2, ' ', 0)
		fmt.Fprintln(t, strings.Join(table.Head, "\t"))
		for _, row := range table.Rows {
			fmt.Fprintln(t, strings.Join(row, "\t"))
		}
		if err := t.Flush(); err != nil {
			return fmt.Errorf("print a table: %w", err)
		}
	}
	return nil
}

// findingWords says a finding, with the document's figure and how it was found.
func findingWords(f experiment.Finding) string {
	text := experiment.Round(f.Value) + " " + f.Unit
	if f.Published > 0 {
		text += ", published " + experiment.Round(f.Published) + " " + f.Unit
	}
	if f.Note != "" {
		text += " (" + f.Note + ")"
	}
	return text
}

// Compare writes two runs of one experiment side by side.
func Compare(w io.Writer, before, after *experiment.Result) error {
	if before.Experiment != after.Experiment {
		fmt.Fprintf(w, "These are runs of two experiments, %s and %s; nothing compares.\n", before.Experiment, after.Experiment)
		return nil
	}
	t := tabwriter.NewWriter(w, 2, 4, 2, ' ', 0)
	fmt.Fprintf(t, "%s, %s\t%s\t%s\tchange\n", before.Metric.Name, before.Metric.Unit,
		before.Started.Format("2006-01-02 15:04"), after.Started.Format("2006-01-02 15:04"))
	for i := range before.Cases {
		for j := range after.Cases {
			b, a := &before.Cases[i], &after.Cases[j]
			if b.Case.Name != a.Case.Name || b.Subject != a.Subject || b.Median == 0 {
				continue
			}
			note := ""
			if a.Least <= b.Most && b.Least <= a.Most {
				note = ", within the spread"
			}
			fmt.Fprintf(t, "%s, %s\t%s\t%s\t%+.1f %%%s\n", b.Subject, b.Case.Name, Spread(b), Spread(a), 100*(a.Median/b.Median-1), note)
		}
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("print the comparison: %w", err)
	}
	return nil
}
