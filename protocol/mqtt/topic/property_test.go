package topic_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"voltbus/protocol/mqtt/topic"
)

// matches is the rule of §4.7 on lists of levels, written down apart from what is tested.
func matches(filter, name []string) bool {
	if len(filter) == 0 || len(name) == 0 {
		return len(filter) == len(name) || len(filter) == 1 && filter[0] == "#"
	}
	switch filter[0] {
	case "#":
		return true
	case "+", name[0]:
		return matches(filter[1:], name[1:])
	default:
		return false
	}
}

func matchesNaively(filter, name string) bool {
	if strings.HasPrefix(name, "$") && (strings.HasPrefix(filter, "+") || strings.HasPrefix(filter, "#")) {
		return false
	}
	return matches(strings.Split(filter, "/"), strings.Split(name, "/"))
}

// few levels of few letters, so that names and filters meet often.
func draw(t *rapid.T, label string, levels ...string) string {
	s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(levels), 1, 4).Draw(t, label), "/")
	if s == "" {
		return "/"
	}
	return s
}

func drawName(t *rapid.T) string { return draw(t, "name", "", "a", "b", "$x") }

func drawFilter(t *rapid.T) topic.Filter {
	s := draw(t, "filter", "", "a", "b", "$x", "+")
	if rapid.Bool().Draw(t, "everything below") {
		s += "/#"
	}
	if rapid.IntRange(0, 20).Draw(t, "everything") == 0 {
		s = "#"
	}
	f, err := topic.Parse(rapid.SampledFrom([]string{"", "", "$share/g/", "$share/h/"}).Draw(t, "share")+s, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestMatchAgreesWithTheRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, name := drawFilter(t).Topic, drawName(t)
		if got, want := topic.Match(f, name), matchesNaively(f, name); got != want {
			t.Fatalf("Match(%q, %q) = %v", f, name, got)
		}
	})
}

// subscription is one entry of the naive tree.
type subscription struct {
	filter     topic.Filter
	subscriber int
}

func TestTreeAgreesWithAListOfSubscriptions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree, model := topic.NewTree[int, int](), map[subscription]int{}
		var m topic.Matches[int, int]
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				s := subscription{drawFilter(t), rapid.IntRange(0, 40).Draw(t, "subscriber")}
				_, had := model[s]
				model[s] = rapid.IntRange(0, 9).Draw(t, "value")
				if tree.Add(s.filter, s.subscriber, model[s]) == had {
					t.Fatalf("add %v: new %v", s, !had)
				}
			},
			"remove": func(t *rapid.T) {
				s := subscription{drawFilter(t), rapid.IntRange(0, 40).Draw(t, "subscriber")}
				_, had := model[s]
				delete(model, s)
				if tree.Remove(s.filter, s.subscriber) != had {
					t.Fatalf("remove %v: there %v", s, had)
				}
			},
			"remove what is there": func(t *rapid.T) {
				for s := range model {
					delete(model, s)
					if !tree.Remove(s.filter, s.subscriber) {
						t.Fatalf("remove %v: not there", s)
					}
					if rapid.IntRange(0, 9).Draw(t, "stop") == 0 {
						break
					}
				}
			},
			"": func(t *rapid.T) {
				name := drawName(t)
				tree.Match([]byte(name), &m)
				compare(t, name, model, &m)
				if tree.Len() != len(model) {
					t.Fatalf("%d subscriptions, want %d", tree.Len(), len(model))
				}
			},
		})
	})
}

func compare(t *rapid.T, name string, model map[subscription]int, m *topic.Matches[int, int]) {
	var want, got []string
	groups := map[topic.Filter]bool{}
	for s, value := range model {
		switch {
		case !matchesNaively(s.filter.Topic, name):
		case s.filter.Share == "":
			want = append(want, fmt.Sprint(s.subscriber, "=", value))
		case !groups[s.filter]:
			groups[s.filter] = true
			want = append(want, s.filter.Share)
		}
	}
	for _, set := range m.Sets {
		for _, member := range set {
			got = append(got, fmt.Sprint(member.Subscriber, "=", member.Value))
		}
	}
	for _, g := range m.Groups {
		got = append(got, g.Name())
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Fatalf("%q matched %q, want %q", name, got, want)
	}
}

func TestRetainedAgreesWithAListOfNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set, model := topic.NewRetained[int](), map[string]int{}
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				name, value := drawName(t), rapid.Int().Draw(t, "value")
				want, had := model[name]
				model[name] = value
				if old, ok := set.Set(name, value); old != want || ok != had {
					t.Fatalf("set %q: %d, %v", name, old, ok)
				}
			},
			"delete": func(t *rapid.T) {
				name := drawName(t)
				want, had := model[name]
				delete(model, name)
				if old, ok := set.Delete(name); old != want || ok != had {
					t.Fatalf("delete %q: %d, %v", name, old, ok)
				}
			},
			"": func(t *rapid.T) {
				f := drawFilter(t).Topic
				got := map[string]int{}
				set.Match(f, func(name string, value int) bool {
					if _, twice := got[name]; twice {
						t.Fatalf("%q twice", name)
					}
					got[name] = value
					return true
				})
				for name, value := range model {
					if v, ok := got[name]; ok != matchesNaively(f, name) || ok && v != value {
						t.Fatalf("%q: %q is %d, %v", f, name, v, ok)
					}
				}
				for name := range got {
					if _, ok := model[name]; !ok {
						t.Fatalf("%q: %q is not there", f, name)
					}
				}
				if set.Len() != len(model) {
					t.Fatalf("%d names, want %d", set.Len(), len(model))
				}
			},
		})
	})
}
