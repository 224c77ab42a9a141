package settings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/audit"
	"voltbus/cmd/voltbus/shell"
	"voltbus/fault"
	"voltbus/operation/auditlog"
)

// NewAudit returns the command "audit".
func NewAudit(f *shell.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "audit", Short: "Show the audit log, and verify it",
		Long: `Show the audit log: changes of people, tokens, configuration and documents, failed logins, commands,
starts and stops. Entries are only added; verify finds whether any was changed or removed.`,
	}
	for _, sub := range []*cobra.Command{newAuditList(f), newAuditExport(f), newAuditVerify(f), newAuditAccept(f)} {
		f.Where.Register(sub)
		shell.StrictArgs(sub)
		cmd.AddCommand(sub)
	}
	return cmd
}

func auditFlags(cmd *cobra.Command, f *client.AuditFilter) {
	fs := cmd.Flags()
	fs.StringVar(&f.From, "from", "", "first time, such as -1d or 2026-01-31; default: the beginning")
	fs.StringVar(&f.To, "to", "", "time behind the last, such as now; default: the end")
	fs.StringVar(&f.Actor, "actor", "", "who, such as person:ada or agent:*")
	fs.StringVar(&f.Action, "action", "", "what, such as config.apply or person.*")
	fs.StringVar(&f.Subject, "subject", "", "to what, such as a path and all below it")
	fs.StringVar(&f.Search, "search", "", "text anywhere in the entry")
}

func newAuditList(f *shell.Flags) *cobra.Command {
	var out shell.Format
	var filter client.AuditFilter
	cmd := &cobra.Command{
		Use: "list", Short: "List entries, the newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				rows, err := out.Open(s.OutOrStdout(), "seq", "time", "actor", "action", "subject", "outcome", "detail")
				if err != nil {
					return err
				}
				page, err := client.Do(ctx, s.Client, auditlog.List, filter.Page())
				if err != nil {
					return err
				}
				for _, e := range page.Entries {
					var detail any
					if e.Detail != nil {
						detail = e.Detail
					}
					if err := rows.Row(e.Seq, e.Time.Format(time.RFC3339Nano), e.Actor, e.Action, e.Subject, e.Outcome, detail); err != nil {
						return err
					}
				}
				if page.Next > 0 {
					fmt.Fprintf(cmd.ErrOrStderr(), "there are more: --before %d\n", page.Next)
				}
				tellAbsent(cmd.ErrOrStderr(), page.Absent)
				return rows.End()
			})
		},
	}
	out.Register(cmd)
	auditFlags(cmd, &filter)
	cmd.Flags().IntVar(&filter.Limit, "limit", 100, "most entries, up to 10000")
	cmd.Flags().Uint64Var(&filter.Before, "before", 0, "only entries with smaller numbers: the next page")
	return cmd
}

// tellAbsent reports where to find entries missing from the list.
func tellAbsent(w io.Writer, absent []answer.AuditArchive) {
	for _, a := range absent {
		what := "is not there: put it back to see them"
		if a.Removed {
			what = "was removed, as audit.keep says"
		}
		fmt.Fprintf(w, "the entries from %d to %d are in %s, which %s\n", a.First, a.Last, filepath.Join(audit.Archives, shell.Plain(a.File)), what)
	}
}

func newAuditExport(f *shell.Flags) *cobra.Command {
	var filter client.AuditFilter
	cmd := &cobra.Command{
		Use: "export", Short: "Write entries as lines of JSON, the oldest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error { return s.ExportAudit(ctx, filter, s.OutOrStdout()) })
		},
	}
	auditFlags(cmd, &filter)
	return cmd
}

var errNotWhole = errors.New("the audit log is not whole; what is listed above was changed, removed or added behind its back")

func newAuditVerify(f *shell.Flags) *cobra.Command {
	var file, archives, expect string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "verify", Short: "Verify the chain of hashes, and report where it does not match",
		Long: `Verify the chain of hashes through the whole log, and report where it does not match. The exit code is
1 if anything is wrong. Store the line "head" where nobody who can write the log can write, and check it
later with --expect: this also detects a log that was forged as a whole.

Archived entries are verified, too.

With --file no node is needed: give a copy of audit.db, with audit.head and the folder audit.archive beside
it, or the folder of the archives with --archives.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			show := func(r *answer.AuditReport) error { return showReport(cmd.OutOrStdout(), r, asJSON) }
			if file != "" {
				r, err := verifyFile(cmd.Context(), file, archives, expect)
				if err != nil {
					return err
				}
				return show(&r)
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				r, err := client.Do(ctx, s.Client, auditlog.Verify, auditlog.Kept{Expect: expect})
				if err != nil {
					return err
				}
				return show(&r)
			})
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "a copy of audit.db, instead of the log of a node")
	cmd.Flags().StringVar(&archives, "archives", "", "the folder of the archives; default: audit.archive beside the file")
	cmd.Flags().StringVar(&expect, "expect", "", "a head that was kept, as verify shows it: number:hash")
	cmd.Flags().BoolVar(&asJSON, "json", false, "the report as JSON")
	_ = cmd.MarkFlagFilename("file", "db")
	return cmd
}

func verifyFile(ctx context.Context, file, archives, expect string) (answer.AuditReport, error) {
	var kept *audit.Head
	if expect != "" {
		head, err := audit.ParseHead(expect)
		if err != nil {
			return answer.AuditReport{}, err
		}
		kept = &head
	}
	r, err := audit.VerifyFile(ctx, file, archives, kept)
	if err != nil {
		return answer.AuditReport{}, err
	}
	return auditlog.Report(&r), nil
}

func showReport(w io.Writer, r *answer.AuditReport, asJSON bool) error {
	if asJSON {
		if err := json.NewEncoder(w).Encode(r); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(w, "entries  %d\nhead     %s\n", r.Entries, r.Head)
		if n := len(r.Archives); n > 0 {
			fmt.Fprintf(w, "archives %d, with the entries from %d to %d\n", n, r.Archives[0].First, r.Archives[n-1].Last)
		}
		for _, p := range r.Problems {
			fmt.Fprintf(w, "entry %d: %s\n", p.Seq, shell.Plain(p.Detail))
			if p.Accepted != "" {
				fmt.Fprintf(w, "  accepted %s\n", shell.Plain(p.Accepted))
			}
		}
		if r.More > 0 {
			fmt.Fprintf(w, "and %d more\n", r.More)
		}
	}
	if !r.Whole {
		return fault.E("voltbus", fault.Corrupt, "", errNotWhole)
	}
	switch {
	case asJSON:
	case len(r.Problems) > 0:
		fmt.Fprintln(w, "the log is whole but for what was accepted")
	default:
		fmt.Fprintln(w, "the log is whole")
	}
	return nil
}

func newAuditAccept(f *shell.Flags) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: "accept-damage", Short: "Accept the damage that verify shows, such as after a restore",
		Long: `Accept the damage that verify shows now, such as after a restore from a copy. This needs the role
administrator. An entry records what was accepted, by whom and why; verify continues to show it. The health
of the node no longer reports it, but reports all damage that is found later.`,
		Example: `  voltbus audit accept-damage --reason "restored from the backup of 1 November"`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				r, err := client.Do(ctx, s.Client, auditlog.Accept, auditlog.Reason{Reason: reason})
				if err != nil {
					return err
				}
				return showReport(cmd.OutOrStdout(), &r, false)
			})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why it is accepted; it stands in the log")
	_ = cmd.MarkFlagRequired("reason")
	return cmd
}
