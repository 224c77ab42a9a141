// Package configuration declares and carries out the operations on a node's configuration file: its text and history, changes applied at
// once or on trial, and devices to add.
package configuration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"voltbus/api/answer"
	"voltbus/config"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/configuration/report"
)

// The arguments.
type (
	// Nothing is the arguments of operations without any.
	Nothing struct{}
	// Text is a configuration to check.
	Text struct {
		Text *string `json:"text" api:"required,max=8000000"`
	}
	// Change is a new content of the file.
	Change struct {
		Text    *string  `json:"text" api:"required,max=8000000"`
		Version string   `json:"version" api:"required,min=1" doc:"Of the text that was changed"`
		Confirm *float64 `json:"confirm" api:"max=3600" doc:"Seconds within which the change must be confirmed at /api/v1/config/confirm, or the node goes back, also after it was killed; what needs a new start is refused then. 0: no confirmation. With node= it is always on trial, 60 if left out, and is confirmed by the node that is asked as soon as it reaches the other one"`
	}
	// Trial names the configuration on trial.
	Trial struct {
		Version string `json:"version" api:"required" doc:"Of the text on trial"`
	}
	// Version names a version in the history.
	Version struct {
		Version string `json:"version" api:"required,max=1024"`
	}
	// Attempt is a device to test.
	Attempt struct {
		Kind   string          `json:"kind" api:"required,max=64"`
		Config json.RawMessage `json:"config" api:"object" doc:"What the driver needs, see its schema"`
	}
	// Network is a network to search for devices.
	Network struct {
		Kind   string          `json:"kind" api:"required,max=64"`
		Config json.RawMessage `json:"config" api:"object" doc:"How the driver reaches devices, such as the own address; see its schema"`
	}
	// Device is a device to add.
	Device struct {
		Path     string          `json:"path" api:"required,max=512"`
		Driver   string          `json:"driver" api:"required"`
		Interval string          `json:"interval" doc:"With a unit, such as 10s"`
		Config   json.RawMessage `json:"config" api:"object" doc:"What the driver needs, see its schema"`
	}
	// Template is a template of MQTT messages to add.
	Template struct {
		Template string `json:"template" api:"required,max=65536" doc:"An entry of mqtt.templates in YAML, such as one that mqtt.unknown proposes"`
	}
)

// Maximum sizes of arguments in bytes.
const (
	textBody   = 8 << 20
	deviceBody = 1 << 20
	smallBody  = 4 << 10
)

// maxTrial is how long a configuration may be on trial.
const maxTrial = time.Hour

// The operations.
var (
	Get = operation.Declare[Nothing, answer.Config](operation.Spec{
		Name: "config.get", HTTP: "GET /config", Role: identity.Engineer, Remote: true,
		Summary: "Read the configuration file", Result: "The text with its history",
	})
	Apply = operation.Declare[Change, answer.ConfigApplied](operation.Spec{
		Name: "config.apply", Before: "config.set", ID: "changeConfig", HTTP: "PUT /config", Role: identity.Engineer, Remote: true, Audited: true, Body: textBody, Wait: maxTrial,
		Summary: "Write and apply a configuration", Result: "Applied",
		Doc: "The text replaces the file in one step, comments and all, and what stood there is kept in the history. 409 if the file holds another version than the one given. 400 with all problems if the text is wrong; then nothing changes. Changes of other sections than devices, include and mqtt.templates need the role administrator, and hold after the node's next start, but for sinks, which hold at once.",
	})
	Check = operation.Declare[Text, answer.ConfigCheck](operation.Spec{
		Name: "config.check", HTTP: "POST /config/check", Role: identity.Engineer, Remote: true, Audited: true, Body: textBody,
		Summary: "Judge a configuration without applying it", Result: "All problems, or what it would change",
		Doc: "Changes of other sections than devices, include and mqtt.templates need the role administrator.",
	})
	Confirm = operation.Declare[Trial, operation.None](operation.Spec{
		Name: "config.confirm", HTTP: "POST /config/confirm", Role: identity.Engineer, Remote: true, Audited: true, Body: smallBody,
		Summary: "Let a configuration stay that is on trial",
	})
	Reload = operation.Declare[Nothing, answer.ConfigApplied](operation.Spec{
		Name: "config.reload", HTTP: "POST /config/reload", Role: identity.Engineer, Remote: true, Audited: true,
		Summary: "Apply what stands in the configuration file", Result: "Applied",
	})
	Schema = operation.Declare[Nothing, json.RawMessage](operation.Spec{
		Name: "config.schema", ID: "getConfigSchema", HTTP: "GET /config/schema", Role: identity.Engineer, Media: "application/schema+json",
		Summary: "Read the JSON Schema of the configuration file", Result: "JSON Schema 2020-12",
	})
	Old = operation.Declare[Version, answer.ConfigText](operation.Spec{
		Name: "config.version", ID: "getConfigVersion", HTTP: "GET /config/versions/{version}", Role: identity.Engineer, Remote: true,
		Summary: "Read a text that stood in the configuration file", Result: "The text",
	})
	Drivers = operation.Declare[Nothing, answer.Drivers](operation.Spec{
		Name: "driver.list", ID: "listDrivers", HTTP: "GET /drivers", Role: identity.Engineer,
		Summary: "List the kinds of devices, with the keys of each", Result: "By name",
	})
	Try = operation.Declare[Attempt, report.Trial](operation.Spec{
		Name: "device.try", ID: "tryDriver", HTTP: "POST /drivers/{kind}/try", Role: identity.Engineer, Audited: true, Body: deviceBody,
		Summary: "Open a device, read it once and close it, within 15 seconds", Result: "What the device did",
		Doc: "What the device did is in the answer, also that it does not answer. 400 with all problems if the section is wrong. What the device keeps for others, such as events of dnp3 that wait, it keeps. A driver that can find points, such as dnp3, lists those that the device has when the section lists none (registry: []).",
	})
	Add = operation.Declare[Device, answer.ConfigApplied](operation.Spec{
		Name: "device.add", HTTP: "POST /devices", Role: identity.Engineer, Audited: true, Body: deviceBody,
		Summary: "Add a device to the configuration file, and apply it", Result: "Applied",
		Doc: "409 if the path is taken; 400 with all problems if it is wrong.",
	})
	AddTemplate = operation.Declare[Template, answer.ConfigApplied](operation.Spec{
		Name: "template.add", ID: "addMQTTTemplate", HTTP: "POST /mqtt/templates", Role: identity.Engineer, Audited: true, Body: deviceBody,
		Summary: "Add a template of MQTT messages to the configuration file, and apply it", Result: "Applied",
		Doc: "It stands behind the other templates, and takes messages at once. 400 with all problems if it is wrong, such as a name that another template has.",
	})
)

// Operations lists the operations of the part. A nil Part answers that the node has no configuration file.
func (p *Part) Operations() []operation.Bound {
	list := []operation.Bound{
		operation.Bind(Get, nil, p.get),
		operation.BindElsewhere(Apply, nil, p.apply, push),
		operation.Bind(Check, nil, p.check),
		operation.Bind(Confirm, judge{p}.mayConfirm, p.confirm),
		operation.Bind(Reload, nil, p.reload),
		operation.Bind(Schema, nil, schema),
		operation.Bind(Old, nil, p.old),
		operation.Bind(Drivers, nil, devices{p}.drivers),
		operation.Bind(Try, nil, devices{p}.try),
		operation.Bind(Search, nil, devices{p}.search),
		operation.Bind(Survey, nil, devices{p}.survey),
		operation.Bind(AddSeveral, nil, devices{p}.addSeveral),
		operation.Bind(Add, nil, devices{p}.add),
		operation.Bind(AddTemplate, nil, p.addTemplate),
		operation.Bind(SinkKinds, nil, sinkKinds),
		operation.Bind(SinkSettings, nil, sinks{p}.settings),
		operation.Bind(TrySink, nil, sinks{p}.try),
		operation.Bind(PutSink, nil, sinks{p}.put),
		operation.Bind(RemoveSink, nil, sinks{p}.remove),
	}
	if p == nil {
		return operation.Absent(list)
	}
	return list
}

func schema(context.Context, *operation.Call, *Nothing) (json.RawMessage, error) {
	return config.Schema(), nil
}

func (p *Part) get(context.Context, *operation.Call, *Nothing) (answer.Config, error) {
	text, err := p.file.Read()
	if err != nil {
		return answer.Config{}, err
	}
	entries, err := p.file.History()
	if err != nil {
		return answer.Config{}, err
	}
	out := answer.Config{File: p.file.Name(), Text: string(text), Version: versionOf(text), History: []answer.ConfigVersion{}, Restart: []string{}}
	for _, e := range entries {
		out.History = append(out.History, answer.ConfigVersion(e))
	}
	if cfg := p.meaning(out.Version, text); cfg != nil {
		c := config.Compare(p.opts.Running(), cfg)
		out.Restart = append(out.Restart, c.Restart...)
		out.Applied = len(c.Added)+len(c.Removed)+len(c.Changed) == 0 && !c.Allow && !c.Templates && !c.Sinks
	}
	return out, nil
}

func (p *Part) old(_ context.Context, _ *operation.Call, in *Version) (answer.ConfigText, error) {
	text, e, err := p.file.Text(in.Version)
	if err != nil {
		return answer.ConfigText{}, err
	}
	return answer.ConfigText{Version: e.Version, Time: e.Time, User: e.User, Text: string(text)}, nil
}

func (p *Part) check(_ context.Context, c *operation.Call, in *Text) (answer.ConfigCheck, error) {
	out := answer.ConfigCheck{Problems: []answer.ConfigProblem{}, Changes: filled(Changes(config.Changes{}))}
	cfg, err := p.loadFor(c, []byte(*in.Text))
	if list, ok := errors.AsType[config.Problems](err); ok {
		out.Problems, err = p.problems(list, []byte(*in.Text)), nil
	} else if err == nil {
		out.Changes = filled(Changes(config.Compare(p.opts.Running(), cfg)))
	}
	c.Did("", map[string]any{"octets": len(*in.Text), "problems": len(out.Problems)})
	return out, err
}

var errBound = fmt.Errorf("is how many seconds it may take to confirm the change, up to %g", maxTrial.Seconds())

func (p *Part) apply(ctx context.Context, c *operation.Call, in *Change) (answer.ConfigApplied, error) {
	c.Did("", map[string]any{"from": in.Version, "to": "", "changes": nil})
	to := change{text: []byte(*in.Text), version: in.Version}
	if in.Confirm != nil {
		if *in.Confirm < 0 || *in.Confirm > maxTrial.Seconds() {
			return answer.ConfigApplied{}, fault.E("config.apply", fault.Invalid, "confirm", errBound)
		}
		to.bound = time.Duration(*in.Confirm * float64(time.Second))
	}
	var err error
	if to.means, err = p.loadFor(c, to.text); err != nil {
		return answer.ConfigApplied{}, p.invalid(err, to.text)
	}
	out, err := p.change(ctx, c, &to)
	c.Did("", map[string]any{"from": in.Version, "to": out.Version, "changes": out.Changes.Words})
	out.Changes = filled(out.Changes)
	return out, err
}

func (p *Part) reload(ctx context.Context, c *operation.Call, _ *Nothing) (answer.ConfigApplied, error) {
	c.Did("", map[string]any{"to": "", "changes": nil})
	out, err := p.readAgain(ctx, c)
	c.Did("", map[string]any{"to": out.Version, "changes": out.Changes.Words})
	out.Changes = filled(out.Changes)
	return out, err
}
