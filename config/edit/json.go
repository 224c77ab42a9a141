package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"go.yaml.in/yaml/v3"
)

const maxJSONDepth = 32

var (
	errJSON       = errors.New("must be a JSON object")
	errJSONDeep   = fmt.Errorf("is nested more than %d deep", maxJSONDepth)
	errJSONBehind = errors.New("has something behind the JSON object")
)

// fromJSON converts a JSON object to YAML, in the order of its keys.
func fromJSON(text []byte) (*yaml.Node, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	node, err := nextJSON(dec, 0)
	if err != nil {
		return nil, err
	}
	if node.Kind != yaml.MappingNode {
		return nil, errJSON
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errJSONBehind
	}
	return node, nil
}

func nextJSON(dec *json.Decoder, depth int) (*yaml.Node, error) {
	if depth > maxJSONDepth {
		return nil, errJSONDeep
	}
	token, err := dec.Token()
	if err != nil {
		return nil, errJSON
	}
	switch t := token.(type) {
	case json.Delim:
		return nestedJSON(dec, t, depth)
	case string:
		return textNode(t), nil
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: t.String()}, nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(t)}, nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
}

// nestedJSON reads what follows an opening bracket, including the closing one.
func nestedJSON(dec *json.Decoder, open json.Delim, depth int) (*yaml.Node, error) {
	node := &yaml.Node{Kind: yaml.SequenceNode}
	if open == '{' {
		node.Kind = yaml.MappingNode
	}
	for dec.More() {
		child, err := nextJSON(dec, depth+1) // in an object, keys and values alternate
		if err != nil {
			return nil, err
		}
		node.Content = append(node.Content, child)
	}
	if _, err := dec.Token(); err != nil {
		return nil, errJSON
	}
	return node, nil
}
