package volttron

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"voltbus/internal/strictyaml"
)

// file is the configuration to write.
type file struct {
	Node struct {
		Name string `yaml:"name"`
		Data string `yaml:"data"`
	} `yaml:"node"`
	Live *live `yaml:"live,omitempty"`
}

type live struct {
	Publish []string `yaml:"publish,flow"`
}

// yaml formats the configuration, with unconverted devices as comments at its end.
func (c *conversion) yaml(name string) ([]byte, error) {
	var f file
	f.Node.Name, f.Node.Data = name, "data"
	if len(c.publish) != 1 || c.publish[0] != "scan" {
		f.Live = &live{append([]string{}, c.publish...)}
	}
	var b bytes.Buffer
	b.WriteString("# Converted from a configuration store of VOLTTRON. " + ReportFile + " says what was not.\n")
	if err := encode(&b, f); err != nil {
		return nil, err
	}
	var left bytes.Buffer
	devices := &yaml.Node{Kind: yaml.MappingNode}
	for i := range c.devices {
		d := &c.devices[i]
		if d.comment != "" {
			c.result.Left++
			fmt.Fprintf(&left, "\n# %s: %s. It was:\n", d.entry, strings.Join(strings.Fields(d.comment), " "))
			for line := range strings.SplitSeq(strings.TrimRight(c.texts[d.entry], "\r\n"), "\n") {
				fmt.Fprintf(&left, "#   %s\n", strings.TrimRight(line, "\r"))
			}
			continue
		}
		c.result.Devices++
		devices.Content = append(devices.Content, text(d.path), c.deviceNode(d))
	}
	if len(devices.Content) > 0 {
		if err := encode(&b, &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{text("devices"), devices}}); err != nil {
			return nil, err
		}
	}
	b.Write(left.Bytes())
	return b.Bytes(), nil
}

func encode(b *bytes.Buffer, v any) error {
	enc := yaml.NewEncoder(b)
	enc.SetIndent(2)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	return enc.Close()
}

func text(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	return n
}

func bare(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: s} }

// deviceNode formats a device.
func (c *conversion) deviceNode(d *device) *yaml.Node {
	node := &yaml.Node{Kind: yaml.MappingNode}
	set := func(key string, value *yaml.Node) { node.Content = append(node.Content, text(key), value) }
	duration := func(key string, v time.Duration) { set(key, bare(strictyaml.FormatDuration(v))) }
	set("driver", text(d.driver))
	duration("interval", d.interval)
	if d.subscribe {
		set("subscribe", bare("true"))
	}
	if d.offset > 0 {
		duration("offset", d.offset)
	}
	if over := c.stagger(d.group); over > 0 {
		set("group", text("group"+strconv.Itoa(d.group)))
		duration("stagger", over)
	}
	if d.publish != nil {
		forms := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, form := range d.publish {
			forms.Content = append(forms.Content, text(form))
		}
		set("publish", forms)
	}
	if d.beat != "" {
		points := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: []*yaml.Node{text(d.beat)}}
		rule := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle, Content: []*yaml.Node{
			text("points"), points, text("heartbeat"), bare(strictyaml.FormatDuration(c.beat)),
		}}
		set("control", &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{rule}})
	}
	set("config", d.config)
	return node
}
