package configuration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"voltbus/api/answer"
	"voltbus/config"
	"voltbus/config/edit"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/internal/atomicfile"
	"voltbus/operation"
	"voltbus/sink/setting"
)

// Sinks are the destinations of readings, as they are changed. See destination.Destinations.
type Sinks interface {
	Try(ctx context.Context, entry setting.Sink) error
	Reopen(ctx context.Context, name string) error
	Remembered(name string) bool
	Forget(name string) error
}

type (
	// Sink is a destination to try, to add or to change.
	Sink struct {
		Sink     string          `json:"sink" api:"required,max=64" doc:"Its name: up to 64 letters, digits, - and _"`
		Settings json.RawMessage `json:"settings" api:"object" doc:"The keys of its entry in the configuration, but for name; see sinks.kinds. Files that the entry names already stay named"`
		Password *string         `json:"password" api:"max=65536" doc:"The password or token, which is kept in a file beside the configuration, and never given back; left out: as it was"`
		CA       *string         `json:"ca" api:"max=1048576" doc:"The authorities of its certificate in PEM, kept in the same way"`
		Cert     *string         `json:"certificate" api:"max=1048576" doc:"The certificate that this node shows, in PEM"`
		Key      *string         `json:"key" api:"max=65536" doc:"Its private key, in PEM"`
		Anew     bool            `json:"anew" doc:"Forget the position that a destination of this name had before it was removed; otherwise it goes on there"`
		Untried  bool            `json:"untried" doc:"Store it without trying whether it can be reached"`
	}
	// SinkName names a destination.
	SinkName struct {
		Sink string `json:"sink" api:"required,max=64" doc:"Its name in the configuration"`
	}
	// Removal names a destination to remove.
	Removal struct {
		Sink   string `json:"sink" api:"required,max=64" doc:"Its name in the configuration"`
		Forget bool   `json:"forget" api:"query" doc:"Forget its position and the readings that it refused; otherwise one that is added under the name goes on there"`
	}
	// SinkForms are the kinds of destinations.
	SinkForms struct {
		Kinds []SinkForm `json:"kinds" doc:"Sorted by name"`
	}
	// SinkForm says what a destination of a kind is asked for.
	SinkForm struct {
		Kind    string      `json:"kind"`
		Title   string      `json:"title"`
		Address string      `json:"address" doc:"An example of url; empty if the kind has none"`
		Into    string      `json:"into" doc:"What into names, such as Topic"`
		Fields  []SinkField `json:"fields" doc:"In the order in which to ask"`
	}
	// SinkField is a key of a destination's settings.
	SinkField struct {
		Key  string `json:"key"`
		Type string `json:"type" api:"one-of=text|number|list|map|file"`
		Doc  string `json:"doc" doc:"From the reference of the configuration"`
	}
	// SinkText is what the configuration says of a destination.
	SinkText struct {
		Settings   json.RawMessage `json:"settings" doc:"The keys of its entry. Secrets are not in it, only the names of their files"`
		Remembered bool            `json:"remembered" doc:"Whether a position is kept for the name"`
		There      bool            `json:"there" doc:"Whether there is such a destination; otherwise it may have been removed"`
	}
)

const sinkBody = 4 << 20

// The operations on destinations in the configuration.
var (
	SinkKinds = operation.Declare[Nothing, SinkForms](operation.Spec{
		Name: "sinks.kinds", ID: "listSinkKinds", HTTP: "GET /sinks/kinds", Role: identity.Engineer,
		Summary: "List the kinds of destinations, with the keys of each", Result: "By name",
	})
	SinkSettings = operation.Declare[SinkName, SinkText](operation.Spec{
		Name: "sinks.settings", ID: "getSinkSettings", HTTP: "GET /sinks/{sink}/settings", Role: identity.Engineer,
		Summary: "Read what the configuration says of a destination", Result: "Its settings, without secrets",
	})
	TrySink = operation.Declare[Sink, operation.None](operation.Spec{
		Name: "sinks.try", ID: "trySink", HTTP: "POST /sinks/{sink}/try", Role: identity.Administrator, Audited: true, Body: sinkBody,
		Summary: "Connect to a destination as the settings say, within 15 seconds",
		Doc:     "No reading is sent, and nothing is kept. A table of a database is made. 400 with all problems if the settings are wrong; another error says in one sentence what is wrong with address, certificate or password.",
	})
	PutSink = operation.Declare[Sink, answer.ConfigApplied](operation.Spec{
		Name: "sinks.put", ID: "putSink", HTTP: "PUT /sinks/{sink}", Role: identity.Administrator, Audited: true, Body: sinkBody,
		Summary: "Add a destination to the configuration, or change it, and apply it", Result: "Applied",
		Doc: "It is tried first, as sinks.try does, and not stored if it cannot be used, unless untried is true. It is sent to at once; a changed one goes on from its position.",
	})
	RemoveSink = operation.Declare[Removal, answer.ConfigApplied](operation.Spec{
		Name: "sinks.remove", ID: "removeSink", HTTP: "DELETE /sinks/{sink}", Role: identity.Administrator, Audited: true,
		Summary: "Remove a destination from the configuration, and send nothing to it any more", Result: "Applied",
		Doc: "Its password file beside the configuration is removed, too.",
	})
)

// Send sets the destinations that changes of their section are applied to.
func (p *Part) Send(s Sinks) { p.sinks = s }

// sinks carries out the operations on destinations in the configuration.
type sinks struct{ *Part }

var errNoSinks = errors.New("this node sends nothing to destinations")

func (p sinks) running(op, name string) (Sinks, error) {
	if p.sinks == nil {
		return nil, fault.E(op, fault.Unavailable, name, errNoSinks)
	}
	if !setting.IsName(name) {
		return nil, fault.E(op, fault.Invalid, name, errors.New("is not a name; write up to 64 letters, digits, - and _, such as cloud"))
	}
	return p.sinks, nil
}

func (p sinks) settings(_ context.Context, _ *operation.Call, in *SinkName) (out SinkText, err error) {
	s, err := p.running("sinks.settings", in.Sink)
	if err != nil {
		return out, err
	}
	text, err := p.file.Read()
	if err != nil {
		return out, err
	}
	out.Settings, out.There, err = edit.Sink(text, in.Sink)
	if !out.There {
		out.Settings = json.RawMessage("{}")
	}
	out.Remembered = s.Remembered(in.Sink)
	return out, err
}

func (p sinks) try(ctx context.Context, c *operation.Call, in *Sink) (none operation.None, err error) {
	c.Did(in.Sink, nil)
	s, err := p.running("sinks.try", in.Sink)
	if err != nil {
		return none, err
	}
	text, err := p.file.Read()
	if err != nil {
		return none, err
	}
	return none, p.attempt(ctx, s, text, in)
}

// attempt connects to a destination whose secrets are in a folder that is there meanwhile.
func (p sinks) attempt(ctx context.Context, s Sinks, text []byte, in *Sink) error {
	if err := p.file.Writable(); err != nil {
		return err
	}
	end, err := p.trying.take("sinks.try", in.Sink)
	if err != nil {
		return err
	}
	defer end()
	folder, err := os.MkdirTemp(filepath.Dir(p.file.Name()), ".try-")
	if err != nil {
		return fault.E("sinks.try", fault.Unavailable, in.Sink, err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	kept, err := p.keep(folder, in)
	if err != nil {
		return err
	}
	_, cfg, err := p.with(text, in, kept)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	return s.Try(ctx, cfg.Sinks[slices.IndexFunc(cfg.Sinks, func(e setting.Sink) bool { return e.Name == in.Sink })])
}

// with returns the file's text with a destination, whose files are those given and those that its entry names already.
func (p sinks) with(text []byte, in *Sink, files map[string]string) ([]byte, *config.Config, error) {
	settings := map[string]json.RawMessage{}
	if err := json.Unmarshal(in.Settings, &settings); err != nil && len(in.Settings) > 0 {
		return nil, nil, fault.E("sinks.put", fault.Invalid, "settings", err)
	}
	var old map[string]json.RawMessage
	if before, is, err := edit.Sink(text, in.Sink); err != nil {
		return nil, nil, err
	} else if is {
		if err := json.Unmarshal(before, &old); err != nil {
			return nil, nil, fault.E("sinks.put", fault.Internal, in.Sink, err)
		}
	}
	for _, key := range fileKeys {
		if named, is := files[key]; is && named == "" {
			delete(settings, key)
		} else if is {
			settings[key], _ = json.Marshal(named) // a text
		} else if _, given := settings[key]; !given && old[key] != nil {
			settings[key] = old[key]
		}
	}
	entry, err := json.Marshal(settings)
	if err != nil {
		return nil, nil, fault.E("sinks.put", fault.Invalid, "settings", err)
	}
	next, cfg, err := edit.PutSink(p.place(), text, in.Sink, entry)
	return next, cfg, p.invalid(err, nil)
}

// The keys of an entry that name files.
var fileKeys = []string{"password_file", "ca", "certificate", "key"} //nolint:gochecknoglobals // a table

// texts returns the contents of files that are given, by the key that names the file.
func (in *Sink) texts() map[string]string {
	out := map[string]string{}
	for key, text := range map[string]*string{"password_file": in.Password, "ca": in.CA, "certificate": in.Cert, "key": in.Key} {
		if text != nil {
			out[key] = *text
		}
	}
	return out
}

// keep writes the contents of files that are given into a folder, and returns their names as the configuration has them; "" for one that is to be no more.
func (p sinks) keep(folder string, in *Sink) (map[string]string, error) {
	names := map[string]string{}
	for key, text := range in.texts() {
		names[key] = ""
		if text == "" {
			continue
		}
		file := filepath.Join(folder, secretName(in.Sink, key))
		if err := (atomicfile.Writer{}).Write(file, []byte(text), 0o600); err != nil {
			return nil, fault.E("sinks.put", fault.Unavailable, file, err)
		}
		near, err := filepath.Rel(filepath.Dir(p.file.Name()), file)
		if err != nil {
			return nil, fault.E("sinks.put", fault.Internal, file, err)
		}
		names[key] = near
	}
	return names, nil
}

// secretName is the name of a file of a destination.
func secretName(sink, key string) string { return fmt.Sprintf("destination-%s.%s", sink, key) }

// secrets is the folder of the files that destinations need, beside the configuration.
func (p sinks) secrets() string { return filepath.Join(filepath.Dir(p.file.Name()), "secrets") }

func (p sinks) put(ctx context.Context, c *operation.Call, in *Sink) (out answer.ConfigApplied, err error) {
	c.Did(in.Sink, nil)
	s, err := p.running("sinks.put", in.Sink)
	if err != nil {
		return out, err
	}
	text, err := p.file.Read()
	if err != nil {
		return out, err
	}
	if !in.Untried {
		if err := p.attempt(ctx, s, text, in); err != nil {
			return out, err
		}
	}
	if _, there, err := edit.Sink(text, in.Sink); err == nil && !there && in.Anew {
		if err := s.Forget(in.Sink); err != nil {
			return out, err
		}
	}
	undo, err := p.store(in)
	if err != nil {
		return out, err
	}
	next, cfg, err := p.with(text, in, undo.names)
	if err == nil {
		out, err = p.change(ctx, c, &change{text: next, version: versionOf(text), means: cfg})
	}
	if err != nil {
		return out, errors.Join(err, undo.restore())
	}
	out.Changes = filled(out.Changes)
	if len(undo.names) > 0 {
		err = s.Reopen(context.WithoutCancel(ctx), in.Sink)
	}
	return out, err
}

// undone are files as they were before others were written in their place.
type undone struct {
	names  map[string]string // that the configuration has for the new ones
	before map[string][]byte // by file; nil for none
}

func (u *undone) restore() (err error) {
	for file, text := range u.before {
		if text == nil {
			if gone := os.Remove(file); gone != nil && !errors.Is(gone, os.ErrNotExist) {
				err = errors.Join(err, gone)
			}
		} else {
			err = errors.Join(err, (atomicfile.Writer{}).Write(file, text, 0o600))
		}
	}
	return err
}

// store writes the files that are given.
func (p sinks) store(in *Sink) (u undone, err error) {
	u = undone{names: map[string]string{}, before: map[string][]byte{}}
	if len(in.texts()) == 0 {
		return u, nil
	}
	if err := os.MkdirAll(p.secrets(), 0o700); err != nil {
		return u, fault.E("sinks.put", fault.Unavailable, p.secrets(), err)
	}
	for _, key := range slices.Sorted(maps.Keys(in.texts())) {
		file := filepath.Join(p.secrets(), secretName(in.Sink, key))
		before, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return u, fault.E("sinks.put", fault.Unavailable, file, err)
		}
		u.before[file] = before
	}
	if u.names, err = p.keep(p.secrets(), in); err != nil {
		return u, errors.Join(err, u.restore())
	}
	return u, nil
}

func (p sinks) remove(ctx context.Context, c *operation.Call, in *Removal) (out answer.ConfigApplied, err error) {
	c.Did(in.Sink, map[string]any{"forget": in.Forget})
	s, err := p.running("sinks.remove", in.Sink)
	if err != nil {
		return out, err
	}
	text, err := p.file.Read()
	if err != nil {
		return out, err
	}
	next, cfg, err := edit.RemoveSink(p.place(), text, in.Sink)
	if err != nil {
		return out, p.invalid(err, nil)
	}
	if out, err = p.change(ctx, c, &change{text: next, version: versionOf(text), means: cfg}); err != nil {
		return out, err
	}
	out.Changes = filled(out.Changes)
	for _, key := range fileKeys {
		_ = os.Remove(filepath.Join(p.secrets(), secretName(in.Sink, key))) // of use to nobody
	}
	if in.Forget {
		err = s.Forget(in.Sink)
	}
	return out, err
}

func sinkKinds(context.Context, *operation.Call, *Nothing) (out SinkForms, err error) {
	var schema struct {
		Defs map[string]struct {
			Properties map[string]struct {
				Type        any    `json:"type"`
				Description string `json:"description"`
			} `json:"properties"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(config.Schema(), &schema); err != nil {
		return out, fault.E("sinks.kinds", fault.Internal, "", err)
	}
	keys := schema.Defs["setting.Sink"].Properties
	for _, f := range setting.Forms() {
		form := SinkForm{Kind: f.Kind, Title: f.Title, Address: f.Address, Into: f.Into}
		for _, key := range f.Fields {
			form.Fields = append(form.Fields, SinkField{Key: key, Type: typeOf(key, keys[key].Type), Doc: keys[key].Description})
		}
		out.Kinds = append(out.Kinds, form)
	}
	return out, nil
}

// typeOf returns how a key is asked for.
func typeOf(key string, kind any) string {
	if slices.Contains(fileKeys, key) {
		return "file"
	}
	switch fmt.Sprint(kind) {
	case "array":
		return "list"
	case "object":
		return "map"
	case "integer":
		return "number"
	}
	return "text"
}
