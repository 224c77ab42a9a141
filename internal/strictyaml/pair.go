package strictyaml

import "go.yaml.in/yaml/v3"

// pair is one key of a mapping and its value.
type pair struct {
	name       string
	key, value *yaml.Node
}

// pairs returns the keys of a mapping once each, in order, and reports repeated ones. Keys from a merge ("<<:
// *other") follow; the mapping's own keys take precedence.
func (d *decoder) pairs(node *yaml.Node, key string) []pair {
	seen := make(map[string]int, len(node.Content)/2)
	list := make([]pair, 0, len(node.Content)/2)
	var merges []*yaml.Node
	for i := 0; i+1 < len(node.Content); i += 2 {
		k, value := node.Content[i], node.Content[i+1]
		if k.ShortTag() == "!!merge" {
			merges = append(merges, value)
			continue
		}
		if k = resolve(k); k.Kind != yaml.ScalarNode {
			d.report(k, key, "a key must be plain text")
			continue
		}
		if line, ok := seen[k.Value]; ok {
			d.report(k, join(key, k.Value), "stands in line %d already; keep one of them", line)
			continue
		}
		seen[k.Value] = k.Line
		list = append(list, pair{k.Value, k, value})
	}
	for _, m := range merges {
		list = d.merge(list, seen, m, key, 0)
	}
	return list
}

func (d *decoder) merge(list []pair, seen map[string]int, from *yaml.Node, key string, depth int) []pair {
	if d.tooMuch(from, key, depth) {
		return list
	}
	at := from
	from = resolve(from)
	if from.Kind == yaml.SequenceNode {
		for _, item := range from.Content {
			list = d.merge(list, seen, item, key, depth+1)
		}
		return list
	}
	if from.Kind != yaml.MappingNode {
		d.report(at, join(key, "<<"), "merges what has no keys; write an alias of a mapping, such as *boiler")
		return list
	}
	for i := 0; i+1 < len(from.Content); i += 2 {
		k := resolve(from.Content[i])
		if k.ShortTag() == "!!merge" {
			list = d.merge(list, seen, from.Content[i+1], key, depth+1)
		} else if _, ok := seen[k.Value]; !ok && k.Kind == yaml.ScalarNode {
			seen[k.Value] = k.Line
			list = append(list, pair{k.Value, k, from.Content[i+1]})
		}
	}
	return list
}
