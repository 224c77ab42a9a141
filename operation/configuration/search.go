package configuration

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"voltbus/api/answer"
	"voltbus/config"
	"voltbus/config/edit"
	"voltbus/driver"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/configuration/report"
)

// The arguments.
type (
	// Unknown are devices whose points are to be found.
	Unknown struct {
		Kind    string          `json:"kind" api:"required,max=64"`
		Config  json.RawMessage `json:"config" api:"object" doc:"How the driver reaches them, as for the search"`
		Devices []Surveyable    `json:"devices" api:"required,max=16" doc:"Up to 16 that a search found"`
	}
	// Surveyable is a device that a search found.
	Surveyable struct {
		Config json.RawMessage `json:"config" api:"object" doc:"What the search found out for its configuration"`
		Device string          `json:"device,omitempty" doc:"Path of a configured device to compare with"`
	}
	// Several are devices of one driver to add.
	Several struct {
		Kind     string          `json:"kind" api:"required,max=64"`
		Interval string          `json:"interval" doc:"With a unit, such as 10s"`
		Config   json.RawMessage `json:"config" api:"object" doc:"Keys that all of them have, such as the own address"`
		Devices  []OneOfSeveral  `json:"devices" api:"required,max=1000" doc:"Up to 1,000"`
	}
	// OneOfSeveral is one of them.
	OneOfSeveral struct {
		Path   string          `json:"path" doc:"Of the device"`
		Config json.RawMessage `json:"config" api:"object" doc:"Its own keys, such as its instance and registry"`
	}
)

// The operations on devices that a driver finds.
var (
	Search = operation.Declare[Network, report.Search](operation.Spec{
		Name: "device.search", ID: "searchDevices", HTTP: "POST /drivers/{kind}/search", Role: identity.Engineer, Audited: true, Body: deviceBody,
		Summary: "Find the devices that a driver can reach, within 15 seconds", Result: "The devices, with what their configuration needs",
		Doc: "Only drivers that can search, such as bacnet, which sends a Who-Is, and modbus, which reads the SunSpec models of a unit; see searches in the list of drivers. At most 2,000 devices are listed, with those that are configured already.",
	})
	Survey = operation.Declare[Unknown, report.Survey](operation.Spec{
		Name: "device.survey", ID: "surveyDevices", HTTP: "POST /drivers/{kind}/survey", Role: identity.Engineer, Audited: true, Body: deviceBody, Wait: surveyTime + 15*time.Second, Waits: true,
		Summary: "Find the points of devices, within a minute", Result: "Of each device a list of its points, or why it has none",
		Doc: "Only drivers that can find points, such as bacnet. Nothing is written to a device. A configured device is compared with its configuration.",
	})
	AddSeveral = operation.Declare[Several, answer.ConfigApplied](operation.Spec{
		Name: "device.add_several", ID: "addDevices", HTTP: "POST /drivers/{kind}/devices", Role: identity.Engineer, Audited: true, Body: textBody, Wait: time.Minute,
		Summary: "Add devices of one driver to the configuration file in one change, and apply it", Result: "Applied",
		Doc: "All or none. 409 if a path is taken; 400 with all problems of the first device that is wrong, or if the file would be longer than 8,000,000 bytes.",
	})
)

// searchMost is the maximum number of devices that a search lists.
const searchMost = 2000

var errNoSearch = errors.New("this driver cannot search; write the address of the device")

func (p devices) search(ctx context.Context, c *operation.Call, in *Network) (report.Search, error) {
	c.Did(in.Kind, nil)
	i := slices.IndexFunc(p.opts.Kinds, func(k driver.Kind) bool { return k.Name == in.Kind })
	switch {
	case i < 0:
		return report.Search{}, fault.E("device.search", fault.NotFound, in.Kind, errKind)
	case p.opts.Kinds[i].Search == nil:
		return report.Search{}, fault.E("device.search", fault.Invalid, in.Kind, errNoSearch)
	}
	kind := &p.opts.Kinds[i]
	with, err := completed(in.Config, kind.Search.Without)
	if err != nil {
		return report.Search{}, fault.E("device.search", fault.Invalid, in.Kind, err)
	}
	d, _, err := edit.ReadDevice(p.place(), edit.NewDevice{Path: "search", Driver: in.Kind, Config: with})
	if err != nil {
		return report.Search{}, p.invalid(err, nil)
	}
	end, err := p.trying.take("device.search", in.Kind)
	if err != nil {
		return report.Search{}, err
	}
	defer end()
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	found, err := kind.Search.Run(ctx, d.Config)
	if err != nil {
		return report.Search{}, err
	}
	out := report.Search{Total: len(found), Devices: make([]report.Neighbour, min(len(found), searchMost)), TookMS: float64(time.Since(began)) / float64(time.Millisecond)}
	for i := range out.Devices {
		n := &found[i]
		keys, err := json.Marshal(n.Config)
		if err != nil {
			return report.Search{}, err
		}
		out.Devices[i] = report.Neighbour{Name: n.Name, Detail: n.Detail, Note: n.Note, Config: keys, Facts: map[string]string{}, Parts: make([]report.DevicePart, len(n.Parts))}
		maps.Copy(out.Devices[i].Facts, n.Facts)
		for k, part := range n.Parts {
			out.Devices[i].Parts[k] = report.DevicePart(part)
		}
	}
	out.Gone = p.recognise(kind.Search, d.Config, found, out.Devices)
	return out, nil
}

// recognise names the devices that are configured, and returns the paths of those that were not found.
func (p devices) recognise(s *driver.Search, cfg driver.Config, found []driver.Neighbour, list []report.Neighbour) []string {
	gone := []string{}
	if s.Covers == nil {
		return gone
	}
	running := p.opts.Running().Devices
	for i := range running {
		d := &running[i]
		if d.Config == nil || !s.Covers(cfg, d.Config) {
			continue
		}
		at := slices.IndexFunc(found, func(n driver.Neighbour) bool { return s.Is(d.Config, &n) })
		if at < 0 {
			gone = append(gone, string(d.Path))
		} else if at < len(list) {
			list[at].Device = string(d.Path)
		}
	}
	return gone
}

// completed returns a configuration with its missing keys added.
func completed(config json.RawMessage, without map[string]any) (json.RawMessage, error) {
	keys := map[string]any{}
	if len(config) > 0 {
		if err := json.Unmarshal(config, &keys); err != nil {
			return nil, fmt.Errorf("config is no object: %w", err)
		}
	}
	for key, value := range without {
		if _, has := keys[key]; !has {
			keys[key] = value
		}
	}
	return json.Marshal(keys)
}

const (
	surveyTime   = time.Minute
	surveyAtOnce = 8
	mostText     = 8_000_000 // as Text and Change take
)

var (
	errNoSurvey      = errors.New("this driver cannot find points; write them in the list")
	errNoPoints      = errors.New("it shows no points")
	errNotConfigured = errors.New("is not a configured device of this driver that can be compared")
	errTooLong       = fmt.Errorf("would be longer than %d bytes with the lists of these devices; add fewer of them, or have voltbus bacnet scan --out write the lists into files", mostText)
)

func (p devices) survey(ctx context.Context, c *operation.Call, in *Unknown) (report.Survey, error) {
	const op = "device.survey"
	c.Did(in.Kind, map[string]any{"devices": len(in.Devices)})
	i := slices.IndexFunc(p.opts.Kinds, func(k driver.Kind) bool { return k.Name == in.Kind && k.Dial != nil })
	if i < 0 {
		return report.Survey{}, fault.E(op, fault.NotFound, in.Kind, errKind)
	}
	end, err := p.trying.take(op, in.Kind)
	if err != nil {
		return report.Survey{}, err
	}
	defer end()
	ctx, cancel := context.WithTimeout(ctx, surveyTime)
	defer cancel()
	out := report.Survey{Devices: make([]report.Surveyed, len(in.Devices))}
	places := make(chan struct{}, surveyAtOnce)
	var asking sync.WaitGroup
	for k := range in.Devices {
		places <- struct{}{}
		asking.Go(func() {
			defer func() { <-places }()
			found, err := p.surveyOne(ctx, &p.opts.Kinds[i], in.Config, &in.Devices[k])
			if err != nil {
				found = report.Surveyed{}
				found.Kind, found.Detail = trouble(err, surveyTime)
			}
			found.Added, found.Gone = append([]string{}, found.Added...), append([]string{}, found.Gone...)
			out.Devices[k] = found
		})
	}
	asking.Wait()
	return out, nil
}

// surveyOne finds the points of a device, and checks that it could be added with them.
func (p devices) surveyOne(ctx context.Context, kind *driver.Kind, common json.RawMessage, in *Surveyable) (out report.Surveyed, err error) {
	d, err := p.read(kind, common, in.Config, []any{})
	if err != nil {
		return out, err
	}
	found, err := discoverOnce(ctx, kind, d.Config)
	if err != nil {
		return out, err
	}
	if out.Registry, out.Guesses, err = registryOf(found); err != nil {
		return out, err
	}
	out.Points = len(found)
	if in.Device != "" {
		err = p.compare(kind, in.Device, found, &out)
		return out, err
	}
	if len(found) == 0 {
		return out, fault.E("device.survey", fault.NotFound, "", errNoPoints)
	}
	_, err = p.read(kind, common, in.Config, out.Registry)
	return out, err
}

// compare compares what a configured device has with its configuration.
func (p devices) compare(kind *driver.Kind, path string, found []driver.Found, out *report.Surveyed) error {
	list := p.opts.Running().Devices
	for i := range list {
		if d := &list[i]; string(d.Path) == path && d.Driver == kind.Name && kind.Search != nil && kind.Search.Compare != nil {
			out.Added, out.Gone = kind.Search.Compare(d.Config, found)
			return nil
		}
	}
	return fault.E("device.survey", fault.NotFound, path, errNotConfigured)
}

// read returns a device with some points.
func (p devices) read(kind *driver.Kind, common, own json.RawMessage, points any) (*config.Device, error) {
	keys, err := merged(common, own)
	if err != nil {
		return nil, err
	}
	with, err := completed(keys, map[string]any{"registry": points})
	if err != nil {
		return nil, err
	}
	d, _, err := edit.ReadDevice(p.place(), edit.NewDevice{Path: "survey", Driver: kind.Name, Config: with})
	if err != nil {
		return nil, p.invalid(err, nil)
	}
	return d, nil
}

// merged returns the keys of both configurations; own go before common ones.
func merged(common, own json.RawMessage) (json.RawMessage, error) {
	keys := map[string]any{}
	if len(common) > 0 {
		if err := json.Unmarshal(common, &keys); err != nil {
			return nil, fault.E("device.survey", fault.Invalid, "config", err)
		}
	}
	all, err := completed(own, keys)
	if err != nil {
		return nil, fault.E("device.survey", fault.Invalid, "config", err)
	}
	return all, nil
}

// discoverOnce opens a line and a device, asks the device for its points, and closes both.
func discoverOnce(ctx context.Context, kind *driver.Kind, cfg driver.Config) (found []driver.Found, err error) {
	if l, can := cfg.(driver.ReadOnly); can {
		cfg = l.ReadOnly()
	}
	line, err := kind.Dial(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, line.Close()) }()
	session, err := line.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	d, can := session.(driver.Discoverer)
	if !can {
		return nil, fault.E("device.survey", fault.Invalid, kind.Name, errNoSurvey)
	}
	return d.Discover(ctx)
}

// registryOf formats points as CSV, names first and tags last, and counts the guesses.
func registryOf(found []driver.Found) (text string, guesses int, err error) {
	const name, guess = "name", "tag:haystack_guess"
	columns := map[string]bool{}
	for i := range found {
		for column := range found[i].Entry {
			columns[column] = true
		}
		if found[i].Entry[guess] != "" {
			guesses++
		}
	}
	delete(columns, name)
	heading := slices.Sorted(maps.Keys(columns))
	slices.SortStableFunc(heading, func(a, b string) int { return strings.Count(a, ":") - strings.Count(b, ":") })
	heading = append([]string{name}, heading...)
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	err = w.Write(heading)
	for i := range found {
		row := make([]string, len(heading))
		for k, column := range heading {
			row[k] = found[i].Entry[column]
		}
		err = errors.Join(err, w.Write(row))
	}
	w.Flush()
	return b.String(), guesses, errors.Join(err, w.Error())
}

func (p devices) addSeveral(ctx context.Context, c *operation.Call, in *Several) (answer.ConfigApplied, error) {
	c.Did(in.Kind, map[string]any{"devices": len(in.Devices)})
	text, err := p.file.Read()
	if err != nil {
		return answer.ConfigApplied{}, err
	}
	list := make([]edit.NewDevice, len(in.Devices))
	for i, d := range in.Devices {
		keys, err := merged(in.Config, d.Config)
		if err != nil {
			return answer.ConfigApplied{}, err
		}
		list[i] = edit.NewDevice{Path: d.Path, Driver: in.Kind, Interval: in.Interval, Config: keys}
	}
	next, cfg, err := edit.AddDevices(p.place(), text, list)
	if err != nil {
		return answer.ConfigApplied{}, p.invalid(err, text)
	}
	if len(next) > mostText {
		return answer.ConfigApplied{}, fault.E("device.add_several", fault.Invalid, p.file.Name(), errTooLong)
	}
	out, err := p.change(ctx, c, &change{text: next, version: versionOf(text), means: cfg})
	out.Changes = filled(out.Changes)
	return out, err
}
