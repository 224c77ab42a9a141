package node

import (
	"errors"
	"fmt"
	"slices"

	"voltbus/api"
	"voltbus/config"
	"voltbus/fault"
	"voltbus/identity"
)

// What another node changes in the configuration of this one never gives anybody more rights than who
// has this node gave: everything that says so needs a new start, which is refused from there, and
// uplink.allow can only lose entries.

var (
	errNoTrial   = errors.New("is missing: a configuration from another node is on trial; say within how many seconds it is confirmed, such as 60")
	errWider     = errors.New("would let nodes above do more here, which no other node can change; change it on the node itself, or over its own address")
	errOfAnother = errors.New("is on trial for somebody else; only who tries it can confirm it from another node")
)

// permitVisitor judges what somebody of another node may change: with a trial, nothing that needs a new
// start, devices for engineers, and of uplink.allow administrators may take entries away.
func (s *settings) permitVisitor(cfg *config.Config, c *api.ConfigChange) error {
	const op = "node.ChangeConfig"
	if c.Bound <= 0 {
		return fault.E(op, fault.Invalid, "confirm", errNoTrial)
	}
	inFile, err := s.inFile()
	if err != nil {
		return fault.E(op, fault.Rejected, s.file.Name(), errTrialBefore)
	}
	if err := tryable(inFile, cfg); err != nil {
		return err
	}
	for _, before := range []*config.Config{inFile, s.node.Config()} {
		if err := noWider(op, &before.Uplink, &cfg.Uplink); err != nil {
			return err
		}
	}
	return s.permit(cfg, c.User)
}

// inFile returns what the file says now.
func (s *settings) inFile() (*config.Config, error) {
	text, err := s.file.Read()
	if err != nil {
		return nil, err
	}
	return s.load(text)
}

// noWider returns an error if nodes above may do more after a change.
func noWider(op string, before, after *config.Uplink) error {
	had, err := allowed(before)
	if err != nil {
		return err
	}
	gets, err := allowed(after)
	if err != nil {
		return err
	}
	have := had.Capabilities()
	for _, capability := range gets.Capabilities() {
		if !had.Administer && !slices.Contains(have, capability) {
			return fault.E(op, fault.Refused, "uplink.allow", fmt.Errorf("%s: %w", capability, errWider))
		}
	}
	return nil
}

// permitConfirm judges who may confirm a trial: from another node only who began it, and here who may make the change.
func (s *settings) permitConfirm(user identity.User) error {
	const op = "node.ConfirmConfig"
	t, is, err := s.file.Trial()
	switch {
	case err != nil || !is:
		return err
	case user.Visitor && t.User != user.Name:
		return fault.E(op, fault.Refused, t.Version, errOfAnother)
	case user.Visitor || user.Role.Includes(identity.Administrator):
		return nil
	}
	text, err := s.file.Read()
	if err != nil {
		return err
	}
	before, err := config.Sections(s.file.Name(), []byte(t.Text))
	if err != nil {
		return fault.E(op, fault.Refused, t.Version, errTrialBefore)
	}
	tried, err := config.Sections(s.file.Name(), text)
	if err != nil {
		return fault.E(op, fault.Invalid, t.Version, err)
	}
	return permitted(before, tried, user)
}
