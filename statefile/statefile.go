// Package statefile knows the small files of a data directory that a node can start without: it sets those aside that are damaged, and says what
// was lost with each.
package statefile

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"voltbus/alarm/monitor"
	"voltbus/audit"
	"voltbus/audit/report"
	"voltbus/catalog"
	"voltbus/control/term"
	"voltbus/fault"
	"voltbus/history"
	"voltbus/identity"
	"voltbus/identity/pki"
	"voltbus/internal/datadir"
	"voltbus/internal/quarantine"
	"voltbus/meter/system"
	"voltbus/recorder"
	"voltbus/uplink/enrol"
	"voltbus/uplink/receiver"
	"voltbus/uplink/replica"
	"voltbus/uplink/sender"
	"voltbus/verdict"
)

// Names of files.
const (
	Address = "node.json"    // where a running node writes its addresses
	Uplink  = "uplink.json"  // up to where the parent has the log
	Origins = "origins.json" // through which child the blocks of each origin arrive
)

// list lists the small files of a data directory that a node can start without. Keys are not among them: with another key it is another node to all who know
// the old one, so a person decides. docs/reference/state-files.md lists them all.
func list() []quarantine.File {
	const tls = identity.TLSFolder + "/"
	return []quarantine.File{
		{Name: datadir.OriginFile, Check: datadir.CheckOrigin, Copy: datadir.OriginCopy, Needed: true},
		{Name: datadir.OriginCopy, Check: datadir.CheckOrigin, Lost: "it is written anew"},
		{
			Name: enrol.ParentFile, Check: enrol.CheckMembership, Copy: enrol.ParentCopy,
			Lost: "this node has no parent now: put parent.json back from a copy and start again, or run voltbus join with a new code",
		},
		{Name: enrol.ParentCopy, Check: enrol.CheckMembership, Lost: "it is written anew when something changes about the parent"},
		{
			Name: identity.AdminTokenFile, Check: identity.CheckToken,
			Lost: "a new token was made, and the old one and all others of the local administrator are not valid any more",
		},
		{Name: Uplink, Check: sender.Check, Lost: "the log is read from its beginning, and the parent says what it has"},
		{Name: "metering/" + system.DeliveryFile, Check: system.CheckDelivery, Lost: "the readings in the log are sent again, which does no harm"},
		{Name: "metering/" + system.EventDeliveryFile, Check: system.CheckEventDelivery, Lost: "the events in the log are sent again, which does no harm"},
		{Name: history.MarkFile, Check: recorder.CheckMark, Lost: "the log was read from its beginning"},
		{Name: Origins, Check: receiver.CheckOwners, Lost: "by which child an origin comes is learned anew from the next block of each"},
		{Name: replica.FileName, Check: replica.Check, Lost: "descendants are known again when they connect; earlier outages of children are lost"},
		{Name: Address, Lost: "it is written anew"},
		{Name: audit.Anchor, Lost: "nothing beside the log says where that ended"},
		{Name: tls + pki.AuthorityFile, Check: pki.CheckCertificate, Copy: tls + pki.AuthorityCopy, Needed: true},
		{Name: tls + pki.AuthorityKey, Check: pki.CheckPrivateKey, Copy: tls + pki.AuthorityKeyCopy, Needed: true},
		{Name: tls + pki.AuthorityCopy, Check: pki.CheckCertificate, Lost: "it is written anew"},
		{Name: tls + pki.AuthorityKeyCopy, Check: pki.CheckPrivateKey, Lost: "it is written anew"},
		{
			Name: tls + "ca-endorsed.pem", Check: pki.CheckCertificate,
			Lost: "who knows only the authority before this one does not believe in it",
		},
		{Name: tls + "server.pem", Check: pki.CheckCertificate, Lost: "it was issued anew"},
		{Name: tls + "server.key", Check: pki.CheckPrivateKey, Lost: "it was made anew"},
		{Name: catalog.File, Database: true, Lost: "accounts, agents, children and descriptions are gone: stop the node, put the file back from a copy, and start again"},
		{Name: audit.File, Database: true, Lost: "the entries are gone: keep that file for who wants to look into it"},
		{Name: monitor.File, Database: true, Lost: "states and history of alarms are gone: what is in alarm opens again; shelve again, and take out of service again, what was"},
		{Name: monitor.PushFile, Check: monitor.CheckPushFile, Lost: "no browser takes pushes: people turn them on again, each at the device"},
		{Name: term.File, Database: true, Lost: "commands, reservations and overrides are gone: give them anew"},
	}
}

// Damage is the damage to small files found at a start. The zero value has none.
type Damage struct {
	found []quarantine.Finding
	ran   bool // the data directory has been used before
	log   *slog.Logger
}

// SetAside moves damaged small files of a data directory aside.
func SetAside(ctx context.Context, dir string, now time.Time, log *slog.Logger) (d Damage, err error) {
	files := list()
	d.log = log
	if origin, err := datadir.Origin(dir); err == nil && origin == "" { // first start: a database may be empty
		for i := range files {
			files[i].Database = false
		}
	} else {
		d.ran = true
	}
	if d.found, err = quarantine.Files(dir, files, now); err != nil {
		return d, fault.E("statefile.SetAside", fault.Corrupt, dir, err)
	}
	for i := range d.found {
		f := &d.found[i]
		log.WarnContext(ctx, "a damaged file was set aside", slog.String("file", f.File), slog.String("aside", f.Aside), slog.String("detail", f.String()))
	}
	return d, nil
}

const newAuthority = "a new authority was made, because the folder of the one before was gone; give its ca.pem to programs on other machines, and let children join again"

// Report records in the audit log which files were set aside, and that nobody trusts the authority yet.
func (d *Damage) Report(ctx context.Context, to *report.Reporter, c *catalog.Damage, own *pki.Certificates) {
	for i := range d.found {
		f := &d.found[i]
		to.About(ctx, "state.damaged", f.File, errors.New(f.String()), map[string]any{"aside": f.Aside, "restored": f.Restored})
	}
	if c != nil {
		err := errors.New("it was damaged (" + c.Reason + ") and is set aside")
		to.About(ctx, "state.damaged", catalog.File, err, map[string]any{"aside": filepath.Base(c.File)})
	}
	if d.ran && own.Made() {
		to.About(ctx, "state.authority", identity.TLSFolder, errors.New(newAuthority), map[string]any{"fingerprint": own.Fingerprint()})
		d.log.WarnContext(ctx, newAuthority)
	}
}

// Facts reports which small files were set aside, as long as they lie in the data directory, and whether the key for the parent can be read.
func (d *Damage) Facts(dir string, parent *enrol.Parent) []verdict.File {
	var out []verdict.File
	if _, member := parent.Current(); member {
		if _, err := parent.Keyring.Read(); err != nil {
			out = append(out, verdict.File{Name: enrol.KeyFile, Sentence: err.Error()})
		}
	}
	for _, f := range quarantine.List(dir, list()) {
		if i := slices.IndexFunc(d.found, func(known quarantine.Finding) bool { return known.Aside == f.Aside }); i >= 0 {
			f = d.found[i]
		}
		out = append(out, verdict.File{
			Name: f.File, Sentence: f.String() + "; move " + f.Aside + " out of the data directory when you have seen to it",
		})
	}
	return out
}
