package configuration

import (
	"context"

	"voltbus/api/answer"
	"voltbus/config/edit"
	"voltbus/operation"
)

// addTemplate adds a template of MQTT messages to the file.
func (p *Part) addTemplate(ctx context.Context, c *operation.Call, in *Template) (answer.ConfigApplied, error) {
	c.Did("mqtt.templates", nil)
	text, err := p.file.Read()
	if err != nil {
		return answer.ConfigApplied{}, err
	}
	added, err := edit.AddTemplate(p.place(), text, []byte(in.Template))
	if err != nil {
		return answer.ConfigApplied{}, p.invalid(err, added.Text)
	}
	c.Did(added.Name, map[string]any{"topic": added.Topic})
	out, err := p.change(ctx, c, &change{text: added.Text, version: versionOf(text), means: added.Config})
	out.Changes = filled(out.Changes)
	return out, err
}
