package configuration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"voltbus/config"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
)

// A change that another node makes to this one's configuration never gives anybody more rights than
// this node's own users granted: every setting that could needs a restart, which is refused from
// there, and uplink.allow can only lose entries.

var (
	errSinksHere = errors.New("would send readings of this node elsewhere, which no other node can change; change them on the node itself, or over its own address")
	errNoTrial   = errors.New("is missing: a configuration from another node is on trial; say within how many seconds it is confirmed, such as 60")
	errWider     = errors.New("would allow ancestors more here, which no other node can change; change it on the node itself, or over its own address")
	errOfAnother = errors.New("is on trial for somebody else; only who tries it can confirm it from another node")
)

// judge decides what callers may change in the file of a part.
type judge struct{ *Part }

// mayChange checks who may make a change: engineers change devices and templates of MQTT messages only, since the other sections say where the node listens and what it keeps.
// Somebody of another node does it with a trial, nothing that needs a new start, and of uplink.allow administrators may take entries away.
func (p judge) mayChange(c *operation.Call, to *change) error {
	if !c.Remote {
		return p.permit(c, to.means)
	}
	const op = "configuration.change"
	if to.bound <= 0 {
		return fault.E(op, fault.Invalid, "confirm", errNoTrial)
	}
	inFile, err := p.inFile()
	if err != nil {
		return fault.E(op, fault.Rejected, p.file.Name(), errTrialBefore)
	}
	if err := tryable(inFile, to.means); err != nil {
		return err
	}
	if config.Compare(inFile, to.means).Sinks {
		return fault.E(op, fault.Refused, "sinks", errSinksHere)
	}
	for _, before := range []*config.Config{inFile, p.opts.Running()} {
		if err := p.noWider(&before.Uplink, &to.means.Uplink); err != nil {
			return err
		}
	}
	return p.permit(c, to.means)
}

// loadFor is load for a caller's configuration. What the caller may not change is refused before any file that it names is opened.
func (p *Part) loadFor(c *operation.Call, text []byte) (*config.Config, error) {
	if !c.Role.Includes(identity.Administrator) {
		head, err := config.Sections(p.file.Name(), text)
		if err != nil {
			return nil, err
		}
		if err := (judge{p}).permit(c, head); err != nil {
			return nil, err
		}
	}
	return p.load(text)
}

// permit compares with the content of the file, which may be waiting for a restart.
func (p judge) permit(c *operation.Call, cfg *config.Config) error {
	before := p.opts.Running()
	if text, err := p.file.Read(); err == nil {
		if in, err := config.Sections(p.file.Name(), text); err == nil {
			before = in
		}
	}
	return permitted(c, before, cfg)
}

// permitted checks a change from one configuration to another.
func permitted(c *operation.Call, before, after *config.Config) error {
	differ := config.Compare(before, after)
	sections := differ.Restart
	if differ.Allow {
		sections = append(slices.Clone(sections), "uplink.allow")
	}
	if differ.Sinks { // they carry readings out of the node, and name files with secrets
		sections = append(slices.Clone(sections), "sinks")
	}
	if len(sections) == 0 || c.Role.Includes(identity.Administrator) {
		return nil
	}
	return fault.E("configuration.change", fault.Refused, userOf(c), fmt.Errorf(
		"an %v may change devices and mqtt.templates; changes of %s need an administrator", c.Role, strings.Join(sections, ", ")))
}

// inFile returns the current content of the file.
func (p *Part) inFile() (*config.Config, error) {
	text, err := p.file.Read()
	if err != nil {
		return nil, err
	}
	return p.load(text)
}

// noWider returns an error if a change lets ancestors do more.
func (p judge) noWider(before, after *config.Uplink) error {
	had, err := p.opts.Allowed(before)
	if err != nil {
		return err
	}
	gets, err := p.opts.Allowed(after)
	if err != nil {
		return err
	}
	have := had.Capabilities()
	for _, capability := range gets.Capabilities() {
		if !had.Administer && !slices.Contains(have, capability) {
			return fault.E("configuration.change", fault.Refused, "uplink.allow", fmt.Errorf("%s: %w", capability, errWider))
		}
	}
	return nil
}

// mayConfirm checks who may confirm a trial: from another node only the caller that began it, and here those who may make the change.
func (p judge) mayConfirm(_ context.Context, c *operation.Call, in *Trial) error {
	const op = "config.confirm"
	c.Did(in.Version, nil)
	t, is, err := p.file.Trial()
	switch {
	case err != nil || !is:
		return err
	case c.Remote && t.User != userOf(c):
		return fault.E(op, fault.Refused, t.Version, errOfAnother)
	case c.Remote || c.Role.Includes(identity.Administrator):
		return nil
	}
	text, err := p.file.Read()
	if err != nil {
		return err
	}
	before, err := config.Sections(p.file.Name(), []byte(t.Text))
	if err != nil {
		return fault.E(op, fault.Refused, t.Version, errTrialBefore)
	}
	tried, err := config.Sections(p.file.Name(), text)
	if err != nil {
		return fault.E(op, fault.Invalid, t.Version, err)
	}
	return permitted(c, before, tried)
}
