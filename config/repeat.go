package config

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// numberPattern is {n}, {n+1000}, {n-1} and {n:03}, alone or together.
var numberPattern = regexp.MustCompile(`\{n([+-]\d{1,9})?(?::0(\d))?\}`)

// expand inserts the number of a repeated device into a text.
func expand(text string, n int) string {
	if !strings.Contains(text, "{n") {
		return text
	}
	return numberPattern.ReplaceAllStringFunc(text, func(place string) string {
		m := numberPattern.FindStringSubmatch(place)
		more, _ := strconv.Atoi(m[1])
		width, _ := strconv.Atoi(m[2])
		return fmt.Sprintf("%0*d", width, n+more)
	})
}

// maxExpand bounds the depth of a repeated node; beyond it nothing is replaced, and decoding reports the
// depth.
const maxExpand = 100

// expandNode returns the node with the number in all its values. Nodes without a placeholder are shared with
// the original.
func expandNode(node *yaml.Node, n int) *yaml.Node {
	return expandBelow(node, n, 0)
}

func expandBelow(node *yaml.Node, n, depth int) *yaml.Node {
	if depth > maxExpand {
		return node
	}
	switch node.Kind {
	case yaml.ScalarNode:
		return expandScalar(node, n)
	case yaml.AliasNode:
		if target := expandBelow(node.Alias, n, depth+1); target != node.Alias {
			return target
		}
	case yaml.MappingNode, yaml.SequenceNode, yaml.DocumentNode:
		return expandContent(node, n, depth)
	}
	return node
}

func expandScalar(node *yaml.Node, n int) *yaml.Node {
	text := expand(node.Value, n)
	if text == node.Value {
		return node
	}
	// A placeholder alone becomes a number, although it had to be written as a string.
	return &yaml.Node{Kind: yaml.ScalarNode, Value: text, Line: node.Line, Column: node.Column}
}

func expandContent(node *yaml.Node, n, depth int) *yaml.Node {
	result := node
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 {
			continue // a key
		}
		expanded := expandBelow(child, n, depth+1)
		if expanded == child {
			continue
		}
		if result == node {
			clone := *node
			clone.Content = append([]*yaml.Node(nil), node.Content...)
			result = &clone
		}
		result.Content[i] = expanded
	}
	return result
}
